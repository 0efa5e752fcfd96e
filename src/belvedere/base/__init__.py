"""Code that is independent of the product. Every other package may import all of it.

Start with `errors` (everything that a caller of the API may see) and `clock` (integer milliseconds,
passed as an argument). `ids` creates identifiers, `text` has JSON, patterns and masking,
`fair_queue` limits concurrent calls per organization, `failpoints` kills a process in crash tests.
`websocket_frames` is used by both ends of an agent's connection. `masking` is only an old name, for
keepers of an earlier version.
"""
