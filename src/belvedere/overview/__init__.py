"""What a page needs at once, from all the features below: few calls instead of one per row."""
