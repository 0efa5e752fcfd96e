/** `#L120` or `#L120-L140`: the lines that an address points at. */
export function linesInHash(hash: string): { from: number; to: number } | null {
  const match = /^#?L(\d{1,12})(?:-L?(\d{1,12}))?$/.exec(hash)
  if (!match) return null
  const a = Number(match[1])
  const b = Number(match[2] ?? match[1])
  return a > 0 && b > 0 ? { from: Math.min(a, b), to: Math.max(a, b) } : null
}

export function hashOf(range: { from: number; to: number } | null): string {
  if (!range) return ''
  return range.from === range.to ? `L${range.from}` : `L${range.from}-L${range.to}`
}
