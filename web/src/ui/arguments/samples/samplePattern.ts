/** A short text that matches a pattern; null where the pattern is beyond this simple reader. */
export function samplePattern(pattern: string): string | null {
  try {
    const reader = new PatternReader(pattern)
    const text = reader.alternatives()
    return reader.isAtEnd ? text : null
  } catch {
    return null
  }
}

const CLASSES: Record<string, string> = { d: '1', w: 'a', s: ' ', D: 'a', W: '-', S: 'a' }
// Assertions match between characters, so they add nothing.
const ASSERTIONS = 'bBAzZ'

/** Takes the first of all choices and the least of all repetitions, but once at least. */
class PatternReader {
  private at = 0
  constructor(private readonly pattern: string) {}

  get isAtEnd(): boolean {
    return this.at === this.pattern.length
  }

  alternatives(): string {
    const first = this.sequence()
    while (this.pattern[this.at] === '|') {
      this.at++
      this.sequence()
    }
    return first
  }

  private sequence(): string {
    let text = ''
    while (!this.isAtEnd && !'|)'.includes(this.pattern[this.at]!)) text += this.repeatPart()
    return text
  }

  private repeatPart(): string {
    const unit = this.unit()
    const [quantifier, least] = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})[?+]?/u.exec(this.rest) ?? ['']
    this.at += quantifier.length
    return least === undefined ? unit : unit.repeat(Number(least))
  }

  private get rest(): string {
    return this.pattern.slice(this.at)
  }

  private unit(): string {
    const symbol = this.pattern[this.at++]!
    if (symbol === '^' || symbol === '$') return ''
    if (symbol === '.') return 'a'
    if (symbol === '(') return this.group()
    if (symbol === '[') return this.characterClass()
    return symbol === '\\' ? this.escape() : symbol
  }

  private group(): string {
    const [head] = /^\?(?:P?<\w+>|:)/u.exec(this.rest) ?? ['']
    if (this.pattern[this.at] === '?' && !head) throw new Error('unknown group')
    this.at += head.length
    const text = this.alternatives()
    if (this.pattern[this.at++] !== ')') throw new Error('open group')
    return text
  }

  private escape(): string {
    const symbol = this.pattern[this.at++] ?? ''
    if (ASSERTIONS.includes(symbol)) return ''
    if (/[a-zA-Z0-9]/u.test(symbol) && !CLASSES[symbol]) throw new Error('unknown escape')
    return CLASSES[symbol] ?? symbol
  }

  private characterClass(): string {
    const [text] = /^\^?\]?(?:\\.|[^\]\\])*\]/u.exec(this.rest) ?? []
    if (!text) throw new Error('open class')
    this.at += text.length
    const matcher = new RegExp(`^[${text}$`, 'u')
    const candidate = [...'a1A-_ .x'].find((each) => matcher.test(each))
    const first = text.startsWith('\\') ? (CLASSES[text[1]!] ?? text[1]!) : text[0]!
    return candidate ?? first
  }
}
