export type Pairs = Record<string, string>

/** Lines of `NAME=value` or `Name: value`; null where a line has no sign or no name. */
export function parsePairs(text: string, sign: '=' | ':'): Pairs | null {
  const pairs: Pairs = {}
  for (const line of text.split('\n')) {
    if (!line.trim()) continue
    const at = line.indexOf(sign)
    if (at < 1) return null
    const value = line.slice(at + 1)
    pairs[line.slice(0, at).trim()] = sign === ':' ? value.trim() : value
  }
  return pairs
}

export function pairsText(pairs: Pairs, sign: '=' | ':'): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${name}${sign === ':' ? ': ' : '='}${value}`)
    .join('\n')
}
