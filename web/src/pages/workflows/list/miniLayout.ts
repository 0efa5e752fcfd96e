import { type Draft, isEndless } from '../../../ui/graph/graphDraft'

interface Dot {
  id: string
  x: number
  y: number
}

/** A small graph: the positions of its steps, which are connected, how many are left out. */
export interface MiniLayout {
  dots: Dot[]
  lines: [Dot, Dot][]
  width: number
  height: number
  hidden: number
}

export const STEP = 12
const MOST = 12
const MOST_OF_LAYER = 4

/** Steps in layers from left to right, those of one layer below each other. */
export function miniLayout(draft: Draft): MiniLayout {
  const layers = layersOf(draft)
  const counts = new Map<number, number>()
  const drawn = draft.nodes
    .map(({ id }) => ({ id, layer: layers.get(id) ?? 0 }))
    .filter(({ layer }) => {
      const many = (counts.get(layer) ?? 0) + 1
      counts.set(layer, many)
      return many <= MOST_OF_LAYER
    })
    .sort((a, b) => a.layer - b.layer)
    .slice(0, MOST)
  const sizeOf = (layer: number) => drawn.filter((node) => node.layer === layer).length
  const most = Math.max(1, ...drawn.map(({ layer }) => sizeOf(layer)))
  const dots = drawn.map(({ id, layer }, i) => {
    const before = drawn.slice(0, i).filter((node) => node.layer === layer).length
    const top = (most - sizeOf(layer)) / 2
    return { id, x: (layer + 0.5) * STEP, y: (top + before + 0.5) * STEP }
  })
  const at = new Map(dots.map((dot) => [dot.id, dot]))
  const lines = new Map<string, [Dot, Dot]>()
  for (const { source, target } of draft.edges) {
    const [from, to] = [at.get(source), at.get(target)]
    // Two steps may be connected in several ways.
    if (from && to) lines.set(`${from.x} ${from.y} ${to.x} ${to.y}`, [from, to])
  }
  const last = Math.max(0, ...drawn.map(({ layer }) => layer))
  const hidden = draft.nodes.length - drawn.length
  return { dots, lines: [...lines.values()], width: (last + 1) * STEP, height: most * STEP, hidden }
}

/** By the longest path to each node, without edges that lead back. */
function layersOf(draft: Draft): Map<string, number> {
  const layers = new Map(draft.nodes.map(({ id }) => [id, 0]))
  const onward = draft.edges.filter((edge) => !edge.max_visits || !isEndless(draft, edge))
  // No way is longer than there are steps.
  for (let round = 1; round < draft.nodes.length; round++)
    for (const { source, target } of onward) {
      const next = Math.min((layers.get(source) ?? 0) + 1, draft.nodes.length - 1)
      if (next > (layers.get(target) ?? 0)) layers.set(target, next)
    }
  return layers
}
