import { expect, test } from 'vitest'
import { bandsOf, CARDS, completeLayout, DEFAULT_LAYOUT, moveCard, type PlacedCard } from './layout'

const order = (layout: PlacedCard[]) => layout.map((row) => row.card)

test('without a stored layout the cards stand in their default order', () => {
  expect(order(completeLayout(null))).toEqual([...CARDS])
  expect(bandsOf(DEFAULT_LAYOUT)).toEqual([
    { full: 'indicators' },
    {
      columns: [
        ['monitors', 'hosts'],
        ['pending', 'jobs'],
      ],
    },
  ])
})

test('a card that a stored layout does not know comes last, an unknown one is left out', () => {
  const stored = [
    { card: 'jobs', size: 'full' as const, hidden: false },
    { card: 'weather', size: 'half' as const, hidden: false },
  ]
  expect(order(completeLayout(stored))).toEqual([
    'jobs',
    'indicators',
    'monitors',
    'pending',
    'hosts',
  ])
})

test('a card moves one place, and stays at the ends', () => {
  expect(order(moveCard(DEFAULT_LAYOUT, 'jobs', -1)).slice(-2)).toEqual(['jobs', 'hosts'])
  expect(moveCard(DEFAULT_LAYOUT, 'jobs', 1)).toBe(DEFAULT_LAYOUT)
  expect(moveCard(DEFAULT_LAYOUT, 'indicators', -1)).toBe(DEFAULT_LAYOUT)
})

test('hidden cards take no place, and a full card separates the columns', () => {
  const layout = completeLayout([
    { card: 'monitors', size: 'half', hidden: false },
    { card: 'pending', size: 'half', hidden: true },
    { card: 'hosts', size: 'full', hidden: false },
    { card: 'jobs', size: 'half', hidden: false },
    { card: 'indicators', size: 'half', hidden: false },
  ])
  expect(bandsOf(layout)).toEqual([
    { columns: [['monitors'], []] },
    { full: 'hosts' },
    { columns: [['jobs'], ['indicators']] },
  ])
})
