"""What every recipe shares beside file formats: views, the card's text, the leak audit, and looking at a source."""
