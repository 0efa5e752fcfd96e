// @vitest-environment happy-dom
import { describe, expect, it, vi } from 'vitest'
import { markHits, openStyle, plainText, spans } from '../../lines/ansi'
import { linesInHash } from '../../lines/lineHash'
import { lastPage, MAX_HITS, type Page, pageAfter, pageBefore } from '../../search/hitPages'
import { nextIn } from '../../search/useLogSearch'
import { lineBreaks, WrappedRows } from '../../window/wrappedRows'
import { terminalLine } from '../loadEarlier'
import { BLOCK, MAX_BLOCKS } from '../logBlocks'
import { LogStore } from '../logStore'
import { unfinishedBytes } from '../pollLog'

const nothing = async () => ({ first: 1, lines: [] })

function store(...texts: string[]): LogStore {
  const store = new LogStore(nothing)
  for (const text of texts) store.append(text)
  return store
}

function all(of: LogStore): (string | null)[] {
  return Array.from({ length: of.rows }, (_, row) => of.text(row))
}

describe('the lines of a log', () => {
  it('works', () => {
    expect(all(store('one\ntwo\n'))).toEqual(['one', 'two'])
  })

  it('are the same however the text is cut into pieces', () => {
    const text = 'one\r\ntwo 10%\rtwo 20%\rtwo 100%\n\n\x1b[31mred\nstill red\x1b[0m\nlast'
    const lines = all(store(text))
    expect(all(store(...text))).toEqual(lines)
    expect(lines).toEqual([
      'one',
      'two 100%',
      '',
      '\x1b[31mred',
      '\x1b[31mstill red\x1b[0m',
      'last',
    ])
  })

  it('keep the last state of a progress line while it is written', () => {
    const log = store('10%\r')
    expect(all(log)).toEqual(['10%'])
    log.append('20%')
    expect(all(log)).toEqual(['20%'])
    log.append('\r\r\n')
    expect(all(log)).toEqual(['20%'])
    expect(terminalLine('10%\r20%\r')).toBe('20%')
  })

  it('have their true numbers behind a cut', () => {
    const log = store('one\ntwo')
    log.cut({ from: 7, to: 900, line: 41 })
    log.append('rest of 42\n43\n')
    expect(log.rows).toBe(5)
    expect([0, 1, 2, 3, 4].map((row) => log.lineOf(row))).toEqual([1, 2, null, 42, 43])
    expect([1, 2, 3, 41, 42, 43].map((line) => log.rowOf(line))).toEqual([0, 1, 2, 2, 3, 4])
  })

  it('go when there are too many, and come back when they are read', async () => {
    const requests: [number, number][] = []
    const log = new LogStore(async (first, count) => {
      requests.push([first, count])
      return { first, lines: Array.from({ length: count }, (_, i) => `line ${first + i}`) }
    })
    const lines = (MAX_BLOCKS + 5) * BLOCK
    for (let n = 1; n <= lines; n++) log.append(`line ${n}\n`)
    expect(log.rows).toBe(lines)
    expect(log.text(10)).toBeNull()
    expect(log.text(lines - 1)).toBe(`line ${lines}`)
    log.want(10, 40)
    await vi.waitFor(() => expect(log.text(10)).toBe('line 11'), 10_000)
    expect(requests).toEqual([[1, BLOCK]])
  })
})

describe('codes in a line', () => {
  it('become colours, and nothing else', () => {
    const line = spans('a\x1b[1;31mb\x1b[0mc')
    expect(line.map(({ text, look }) => [text, look])).toEqual([
      ['a', ''],
      ['b', 'fg-red is-bold'],
      ['c', ''],
    ])
  })

  it('name any colour, of the text and of its ground', () => {
    const spanOf = (code: string) => {
      const { look, fg, bg } = spans(`\x1b[${code}mx`)[0]!
      return [look, fg, bg]
    }
    expect(spanOf('97;104')).toEqual(['fg-bright-white bg-bright-blue', undefined, undefined])
    expect(spanOf('38;5;9;48;5;208')).toEqual(['fg-bright-red', undefined, '255, 135, 0'])
    expect(spanOf('38;5;244')).toEqual(['', '128, 128, 128', undefined])
    expect(spanOf('38;2;1;2;3;4')).toEqual(['is-underline', '1, 2, 3', undefined])
    expect(spanOf('31;38;2;1;2;999')).toEqual(['fg-red', undefined, undefined])
    expect(spanOf('31;38;5;256;39;1;2;22')).toEqual(['', undefined, undefined])
    expect(spanOf('38;5;58;8')).toEqual(['', '95, 95, 0', undefined])
  })

  it('turn text and ground around', () => {
    expect(spans('\x1b[7mx')[0]!.look).toBe('fg-paper bg-ink')
    expect(spans('\x1b[7;31;1mx')[0]!.look).toBe('fg-paper bg-red is-bold')
    expect(spans('\x1b[7;27;31mx')[0]!.look).toBe('fg-red')
  })

  it('that move, clear, or name windows and links do nothing', () => {
    const nasty =
      '\x1b[2J\x1b[10;10Ha\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c\x1b]8;;\x1b\\\x1b(Bd\x1b[?25l\x00'
    expect(plainText(nasty)).toBe('abcd␀')
    expect(
      spans(nasty)
        .map((span) => span.text)
        .join(''),
    ).toBe('abcd␀')
  })

  it('of markup stay text', () => {
    expect(spans('<script>alert(1)</script>')).toEqual([
      { text: '<script>alert(1)</script>', look: '' },
    ])
  })

  it('stay open into the next line until they are reset', () => {
    expect(openStyle('\x1b[31mred', '')).toBe('\x1b[31m')
    expect(openStyle('more', '\x1b[31m')).toBe('\x1b[31m')
    expect(openStyle('\x1b[0mend', '\x1b[31m')).toBe('')
    expect(openStyle('\x1b[0;32mgreen', '\x1b[31m')).toBe('\x1b[0;32m')
    expect(openStyle('\x1b[31m'.repeat(100), '').length).toBeLessThan(100)
  })

  it('do not hide the text that is searched for', () => {
    const line = markHits(spans('one \x1b[31mTW\x1b[0mo three two'), 'two')
    expect(line.filter((span) => span.look.includes('is-found')).map((span) => span.text)).toEqual([
      'TW',
      'o',
      'two',
    ])
    expect(line.map((span) => span.text).join('')).toBe('one TWo three two')
  })
})

describe('a log in parts', () => {
  it('never ends in half a character', () => {
    const bytes = new TextEncoder().encode('a€😀')
    const ends = Array.from({ length: bytes.length + 1 }, (_, n) =>
      unfinishedBytes(bytes.subarray(0, n)),
    )
    expect(ends).toEqual([0, 0, 1, 2, 0, 1, 2, 3, 0])
  })

  it('is found through page by page, forth, back and around', async () => {
    // Every third line of 10 bytes holds it.
    const all = Array.from({ length: 4_000 }, (_, n) => ({ line: 3 * n + 1, offset: 30 * n }))
    const query = async (from: number) => {
      const lines = all.filter((hit) => hit.offset >= from)
      return { matches: lines.length, lines: lines.slice(0, MAX_HITS) }
    }
    const bytes = 30 * all.length
    const ends = (page: Page | null) => page && [page.first, page.lines[0], page.lines.at(-1)]
    const start = { first: 1, lines: (await query(0)).lines }
    const second = await pageAfter(query, start)
    expect(ends(second)).toEqual([1001, all[1000], all[1999]])
    const last = (await lastPage(query, all.length, bytes))!
    expect(ends(last)?.slice(2)).toEqual([all[3999]])
    expect(last.lines[0]).toEqual(all[last.first - 1])
    expect(await pageAfter(query, last)).toBeNull()
    // On the way back nothing is missing and nothing is repeated.
    let page: Page | null = last
    let count = 0
    for (; page; page = await pageBefore(query, page)) {
      expect(page.lines).toEqual(all.slice(page.first - 1, page.first - 1 + page.lines.length))
      count += page.lines.length
      if (page.first === 1) break
    }
    expect([page?.first, count]).toEqual([1, 4_000])
    expect(await pageBefore(query, start)).toBeNull()
    expect([0, 1, 4].map((from) => nextIn([0, 2, 4], from, 1))).toEqual([2, 2, null])
    expect([0, 1, 4].map((from) => nextIn([0, 2, 4], from, -1))).toEqual([null, 0, 2])
  })

  it('is wrapped where the window ends', () => {
    const log = store(`short\n${'x'.repeat(25)}\n漢字漢字漢字\n`)
    const layout = new WrappedRows(log, 10)
    expect(layout.total).toBe(1 + 3 + 2)
    expect([0, 1, 2, 3, 4, 5].map((line) => layout.at(line).row)).toEqual([0, 1, 1, 1, 2, 2])
    expect(layout.at(3)).toMatchObject({ from: 20 })
    expect(layout.top(2)).toBe(4)
    expect(lineBreaks('漢字漢字漢字', 10)).toEqual([0, 5])
    log.append('y'.repeat(11))
    expect(layout.total).toBe(8)
  })

  it('is pointed at by its address', () => {
    expect(linesInHash('L5')).toEqual({ from: 5, to: 5 })
    expect(linesInHash('#L9-L3')).toEqual({ from: 3, to: 9 })
    expect(linesInHash('L0')).toBeNull()
    expect(linesInHash('elsewhere')).toBeNull()
  })
})
