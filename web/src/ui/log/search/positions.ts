/** The positions of a text in another, whatever its case. */
export function positions(text: string, part: string): number[] {
  const places: number[] = []
  if (!part) return places
  const lower = text.toLowerCase()
  // Lower case may be longer (İ): then places would be off by some, so case counts.
  const [inside, needle] = lower.length === text.length ? [lower, part.toLowerCase()] : [text, part]
  for (let at = inside.indexOf(needle); at >= 0; at = inside.indexOf(needle, at + needle.length))
    places.push(at)
  return places
}
