/** A typed command as words, the way a shell splits them; null when a quote is left open. */
export function splitCommand(line: string): string[] | null {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  for (let i = 0; i < line.length; i++) {
    const sign = line[i]!
    if (quote) {
      if (sign === quote) quote = ''
      else if (sign === '\\' && quote === '"' && /["\\$`]/.test(line[i + 1] ?? ''))
        word = (word ?? '') + line[++i]
      else word = (word ?? '') + sign
    } else if (sign === '"' || sign === "'") {
      quote = sign
      word ??= ''
    } else if (sign === '\\' && i + 1 < line.length) word = (word ?? '') + line[++i]
    else if (/\s/.test(sign)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + sign
  }
  if (quote) return null
  if (word !== null) words.push(word)
  return words
}
