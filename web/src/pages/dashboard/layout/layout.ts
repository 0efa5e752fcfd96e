import type { Shape } from '../../../api/client'

export type LayoutCard = Shape<'LayoutCard'>

/** The cards of the dashboard in their default order. */
export const CARDS = ['indicators', 'monitors', 'pending', 'hosts', 'jobs'] as const
export type CardName = (typeof CARDS)[number]

export interface PlacedCard {
  card: CardName
  size: 'half' | 'full'
  hidden: boolean
}

const FULL: CardName[] = ['indicators']

export const DEFAULT_LAYOUT: PlacedCard[] = CARDS.map((card) => ({
  card,
  size: FULL.includes(card) ? 'full' : 'half',
  hidden: false,
}))

/** A stored layout with every card exactly once: unknown ones are left out, new ones come last. */
export function completeLayout(stored: LayoutCard[] | null | undefined): PlacedCard[] {
  const listed = (stored ?? []).filter((row): row is PlacedCard =>
    CARDS.includes(row.card as CardName),
  )
  const names = new Set(listed.map((row) => row.card))
  return [...listed, ...DEFAULT_LAYOUT.filter((row) => !names.has(row.card))]
}

/** One place up or down. */
export function moveCard(layout: PlacedCard[], card: CardName, by: 1 | -1): PlacedCard[] {
  const from = layout.findIndex((row) => row.card === card)
  const to = from + by
  if (from < 0 || to < 0 || to >= layout.length) return layout
  const next = [...layout]
  next.splice(to, 0, ...next.splice(from, 1))
  return next
}

export type Band = { full: CardName } | { columns: [CardName[], CardName[]] }

/** Full cards one below the other; the halves between them in two columns, in turn. */
export function bandsOf(layout: PlacedCard[]): Band[] {
  const bands: Band[] = []
  let halves = 0
  for (const { card, size, hidden } of layout) {
    if (hidden) continue
    if (size === 'full') {
      bands.push({ full: card })
      halves = 0
      continue
    }
    let band = bands.at(-1)
    if (!band || 'full' in band) {
      band = { columns: [[], []] }
      bands.push(band)
    }
    band.columns[halves % 2]!.push(card)
    halves += 1
  }
  return bands
}
