"""Working folders of scripts: accounts, staging, artifacts, removal."""
