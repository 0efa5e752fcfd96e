export interface DiffLine {
  kind: '+' | '-' | ' '
  text: string
  /** Line numbers from 1 in the old and the new text. */
  before?: number
  after?: number
}

/** Beyond this many different lines the shortest way is not looked for: all out, all in. */
const MOST_STEPS = 3_000

/** The difference between two texts by line: the shortest edit script (Myers). */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n')
  const b = after.split('\n')
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1
  let tail = 0
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail += 1
  const kinds: DiffLine['kind'][] = [
    ...Array<DiffLine['kind']>(head).fill(' '),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...Array<DiffLine['kind']>(tail).fill(' '),
  ]
  return numberLines(kinds, a, b)
}

function numberLines(kinds: DiffLine['kind'][], a: string[], b: string[]): DiffLine[] {
  let x = 0
  let y = 0
  return kinds.map((kind) => {
    if (kind === '+') return { kind, text: b[y]!, after: ++y }
    if (kind === '-') return { kind, text: a[x]!, before: ++x }
    return { kind, text: a[x]!, before: ++x, after: ++y }
  })
}

function middle(a: string[], b: string[]): DiffLine['kind'][] {
  const trace: Int32Array[] = []
  const most = Math.min(a.length + b.length, MOST_STEPS)
  const reach = new Int32Array(2 * most + 3)
  const at = (k: number) => k + most + 1
  for (let d = 0; d <= most; d += 1) {
    trace.push(reach.slice())
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && reach[at(k - 1)]! < reach[at(k + 1)]!)
      let x = isDown ? reach[at(k + 1)]! : reach[at(k - 1)]! + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
      reach[at(k)] = x
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length, at)
    }
  }
  return [...a.map(() => '-' as const), ...b.map(() => '+' as const)]
}

function walkBack(
  trace: Int32Array[],
  width: number,
  height: number,
  at: (k: number) => number,
): DiffLine['kind'][] {
  const kinds: DiffLine['kind'][] = []
  let x = width
  let y = height
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reach = trace[d]!
    const k = x - y
    const isDown = k === -d || (k !== d && reach[at(k - 1)]! < reach[at(k + 1)]!)
    const from = isDown ? k + 1 : k - 1
    const fromX = d === 0 ? 0 : reach[at(from)]!
    const fromY = d === 0 ? 0 : fromX - from
    while (x > fromX && y > fromY) {
      kinds.push(' ')
      x -= 1
      y -= 1
    }
    if (d > 0) kinds.push(isDown ? '+' : '-')
    x = fromX
    y = fromY
  }
  return kinds.reverse()
}

export type DiffPart = DiffLine | { hidden: number }

/** Only what changed, with a few lines around it; the rest is counted. */
export function foldUnchanged(lines: DiffLine[], around = 3): DiffPart[] {
  const near = lines.map(() => false)
  lines.forEach((line, n) => {
    if (line.kind === ' ') return
    for (let i = Math.max(0, n - around); i <= Math.min(lines.length - 1, n + around); i += 1)
      near[i] = true
  })
  const parts: DiffPart[] = []
  lines.forEach((line, n) => {
    const last = parts.at(-1)
    if (near[n]) parts.push(line)
    else if (last && 'hidden' in last) last.hidden += 1
    else parts.push({ hidden: 1 })
  })
  return parts
}
