/** How a piece of a line is drawn. */
export interface TextStyle {
  /** Class names from our own table. */
  look: string
  /** Colours beyond the sixteen named ones, as "r, g, b". */
  fg?: string
  bg?: string
}

interface Colour {
  name?: string
  rgb?: string
}

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const REVERSED = 7
// Hidden and blinking text stays visible.
const DECORATIONS: Record<number, string> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  9: 'strikethrough',
}

/** The state that the colour codes of a line have set so far. */
export class StyleParser {
  private fg?: Colour
  private bg?: Colour
  private on = new Set<number>()

  /** Takes the numbers of one code: "1;31" is bold and red. */
  obey(numbers: string): void {
    const codes = numbers.split(';').map(Number)
    while (codes.length) this.take(codes.shift()!, codes)
  }

  look(): TextStyle {
    const isReversed = this.on.has(REVERSED)
    const front = isReversed ? (this.bg ?? { name: 'paper' }) : this.fg
    const back = isReversed ? (this.fg ?? { name: 'ink' }) : this.bg
    const looks = [front?.name && `fg-${front.name}`, back?.name && `bg-${back.name}`]
    for (const code of this.on) if (DECORATIONS[code]) looks.push(`is-${DECORATIONS[code]}`)
    return { look: looks.filter(Boolean).join(' '), fg: front?.rgb, bg: back?.rgb }
  }

  private take(code: number, rest: number[]): void {
    if (code === 0) {
      this.on.clear()
      this.fg = this.bg = undefined
    } else if (code < 10) this.on.add(code)
    else if (code > 20 && code < 30) this.lift(code - 20)
    else if (code >= 30 && code < 50) this.colour(code - 30, 0, rest)
    else if (code >= 90 && code < 110) this.colour(code - 90, 8, rest)
  }

  private lift(code: number): void {
    this.on.delete(code)
    // Bold and dim have one end for both.
    if (code === 2) this.on.delete(1)
  }

  /** `code` counts from 0 for the text's colours and from 10 for the ground's. */
  private colour(code: number, bright: number, rest: number[]): void {
    const which = code < 10 ? 'fg' : 'bg'
    const index = code % 10
    if (index < 8) this[which] = paletteColour(index + bright)
    else if (index === 9) this[which] = undefined
    else this[which] = exact(rest) ?? this[which]
  }
}

/** "5;208" is a colour of the large palette, "2;255;128;0" any at all. */
function exact(rest: number[]): Colour | undefined {
  const mode = rest.shift()
  if (mode === 5) return paletteColour(rest.shift() ?? -1)
  if (mode !== 2) return undefined
  const parts = rest.splice(0, 3)
  return parts.length === 3 && parts.every(isByte) ? { rgb: parts.join(', ') } : undefined
}

function isByte(n: number): boolean {
  return n >= 0 && n < 256
}

const LEVELS = [0, 95, 135, 175, 215, 255]

function paletteColour(index: number): Colour | undefined {
  if (!isByte(index)) return undefined
  if (index < 16) return { name: (index < 8 ? '' : 'bright-') + NAMES[index % 8] }
  const grey = 8 + (index - 232) * 10
  const at = index - 16
  const parts =
    index >= 232 ? [grey, grey, grey] : [36, 6, 1].map((n) => LEVELS[Math.floor(at / n) % 6])
  return { rgb: parts.join(', ') }
}
