// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { setPrefs } from '../../lib/prefs'
import { type Entry, kindText, matching, neighbour, pageOf, selectedKey } from './paletteEntries'
import { clearRecentPages, recentPages, recordPage, storeRecentPage } from './recent'

const entry = (key: string, label = key, detail?: string): Entry => ({
  key,
  group: 'Results',
  label,
  detail,
  onChoose: () => {},
})

test('every word must be in the label or the detail', () => {
  const entries = [entry('a', 'Count slowly', 'vm'), entry('b', 'Counter')]
  expect(matching(entries, 'count VM').map(({ key }) => key)).toEqual(['a'])
  expect(matching(entries, ' ')).toHaveLength(2)
})

test('the selection stays on its entry while results come, and else is the first', () => {
  const entries = [entry('a'), entry('b')]
  expect(selectedKey(entries, null)).toBe('a')
  expect(selectedKey([entry('new'), ...entries], 'b')).toBe('b')
  expect(selectedKey(entries, 'gone')).toBe('a')
  expect(selectedKey([], 'a')).toBeNull()
})

test('the arrows go from one end to the other', () => {
  const entries = [entry('a'), entry('b'), entry('c')]
  expect(neighbour(entries, 'c', 1)).toBe('a')
  expect(neighbour(entries, 'a', -1)).toBe('c')
})

test('recent pages are records, the last one first, each once, of one person', () => {
  clearRecentPages()
  const id = '0'.repeat(24)
  expect(recordPage(`/jobs/${id}/log`)).toBe(`/jobs/${id}`)
  expect(recordPage('/jobs')).toBeNull()
  for (let n = 0; n < 12; n++) storeRecentPage('ada', { to: `/jobs/${n % 10}`, name: String(n) })
  const pages = recentPages('ada')
  expect(pages).toHaveLength(8)
  expect(pages[0]).toEqual({ to: '/jobs/1', name: '11' })
  expect(recentPages('uma')).toEqual([])
})

test('a record leads to its own page, and its kind is a word of the language', () => {
  expect(pageOf({ kind: 'schedule', id: 's1' })).toBe('/schedules/s1')
  expect(pageOf({ kind: 'indicator', id: 'i1' })).toBe('/indicators/i1')
  expect(pageOf({ kind: 'member', id: 'm1' })).toBe('/people')
  expect(kindText('schedule')).toBe('schedule')
  setPrefs({ language: 'es' })
  expect(kindText('schedule')).toBe('horario')
  setPrefs({ language: 'en' })
})
