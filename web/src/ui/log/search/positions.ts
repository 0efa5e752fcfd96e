/** Where a text stands in another, whatever its case. */
export function positions(text: string, wanted: string): number[] {
  const found: number[] = []
  if (!wanted) return found
  const lower = text.toLowerCase()
  // Lower case may be longer (İ): then places would be off by some, so case counts.
  const [inside, needle] =
    lower.length === text.length ? [lower, wanted.toLowerCase()] : [text, wanted]
  for (let at = inside.indexOf(needle); at >= 0; at = inside.indexOf(needle, at + needle.length))
    found.push(at)
  return found
}
