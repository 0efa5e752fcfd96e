// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { findErrorLine } from '../errorLine'

/** A log whose pages have at most `size` lines, as the server limits them by bytes, too. */
function logOf(total: number, texts: Record<number, string>, size = 5_000) {
  const reads: number[] = []
  const read = async (from: number) => {
    reads.push(from)
    const count = Math.max(0, Math.min(size, total - from + 1))
    const lines = Array.from({ length: count }, (_, n) => texts[from + n] ?? `step ${from + n}`)
    return { first: from, lines, total_lines: total }
  }
  return { read, reads }
}

test('the middle of a log is searched for its first error', async () => {
  const { read } = logOf(12_000, { 6200: 'fatal: no space', 11990: 'Error: gave up' })
  const expected = { line: 6_200, text: 'fatal: no space', kind: 'first' }
  expect(await findErrorLine(read)).toEqual(expected)
  // Pages of long lines are shorter.
  const short = logOf(30, { 20: 'fatal: no space' }, 7)
  expect((await findErrorLine(short.read))?.line).toBe(20)
})

test('of a very long log the start and the end are searched, and the result says so', async () => {
  const { read, reads } = logOf(1_000_000, { 500000: 'Error: middle', 999990: 'Error: end' })
  expect(await findErrorLine(read)).toEqual({ line: 999_990, text: 'Error: end', kind: 'late' })
  expect(reads).toEqual([1, 5_001, 10_001, 15_001, 995_001])
})

test('the last line is not called an error', async () => {
  expect(await findErrorLine(logOf(3, {}).read)).toEqual({ line: 3, text: 'step 3', kind: 'last' })
  expect(await findErrorLine(logOf(0, {}).read)).toBeNull()
})
