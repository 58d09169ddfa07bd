"""The images that a lab runs on: the plugin's, and a kind node image built from source."""
