import dagre from '@dagrejs/dagre'
import { type Draft, type Edge, isEndless, type Node } from './graphDraft'

export const WIDTH = 184
export const HEIGHT = 52

export interface Place {
  x: number
  y: number
}

export interface Frame {
  width: number
  height: number
}

interface Laid {
  places: Map<string, Place>
  direction: 'TB' | 'LR'
}

/** The positions of the nodes, in the direction that fits this frame better. Nodes
 * that were placed by hand decide the direction. */
export function laidOut(nodes: Node[], edges: Edge[], frame: Frame): Laid {
  const across = lay(nodes, edges, 'LR')
  const down = lay(nodes, edges, 'TB')
  const zoom = (layout: ReturnType<typeof lay>) =>
    Math.min(frame.width / layout.width, frame.height / layout.height)
  const better = (placedAcross(nodes, edges) ?? zoom(across) >= zoom(down)) ? across : down
  return { places: better.places, direction: better.direction }
}

/** Whether the edges between placed nodes lead to the right rather than down; null: undecided.
 * The branches of a tree go to both sides, so that only their sum says where it leads. */
function placedAcross(nodes: Node[], edges: Edge[]): boolean | null {
  const places = new Map(nodes.flatMap(({ id, position }) => (position ? [[id, position]] : [])))
  const steps = edges.flatMap(({ source, target, max_visits }) => {
    const [from, to] = [places.get(source), places.get(target)]
    if (!from || !to || max_visits) return []
    return [{ x: (to.x ?? 0) - (from.x ?? 0), y: (to.y ?? 0) - (from.y ?? 0) }]
  })
  if (steps.length === 0) return null
  const sum = (of: 'x' | 'y') => steps.reduce((total, step) => total + step[of], 0)
  // A step to the right is longer than one down.
  return sum('x') / WIDTH >= sum('y') / (2 * HEIGHT)
}

function lay(nodes: Node[], edges: Edge[], direction: 'TB' | 'LR') {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir: direction, nodesep: 24, ranksep: direction === 'TB' ? 44 : 64 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const node of nodes) graph.setNode(node.id, { width: WIDTH, height: HEIGHT })
  // An edge that leads back must not reverse the order.
  const onward = edges.filter(
    (edge) => !edge.max_visits || !isEndless({ start: '', nodes, edges }, edge),
  )
  onward.forEach((edge, i) => {
    // The label has a size of its own, so that it never hides behind a node.
    const word = edge.on ?? 'success'
    graph.setEdge(
      edge.source,
      edge.target,
      { width: word === 'success' ? 0 : word.length * 7, height: 14 },
      String(i),
    )
  })
  dagre.layout(graph)
  const places = new Map<string, Place>()
  let width = WIDTH
  let height = HEIGHT
  for (const id of graph.nodes()) {
    const { x, y } = graph.node(id) as Place
    places.set(id, { x: x - WIDTH / 2, y: y - HEIGHT / 2 })
    width = Math.max(width, x + WIDTH / 2)
    height = Math.max(height, y + HEIGHT / 2)
  }
  return { places, direction, width, height }
}

const NARROW = 640
/** Below this the names of steps cannot be read; a wide frame may show more of the graph at once. */
const READABLE = { narrow: 0.8, wide: 0.5 }
const MAX_ZOOM = 1.25
const MARGIN = 16

export function isNarrow(frame: Frame): boolean {
  return frame.width > 0 && frame.width < NARROW
}

/** The complete graph, or its beginning if it would be too small to read. */
export function viewportOf(places: Map<string, Place>, start: string, frame: Frame) {
  const all = places.size ? [...places.values()] : [{ x: 0, y: 0 }]
  const [x, y] = [all.map((place) => place.x), all.map((place) => place.y)]
  const [minX, minY] = [Math.min(...x), Math.min(...y)]
  const [width, height] = [Math.max(...x) - minX + WIDTH, Math.max(...y) - minY + HEIGHT]
  const room = { width: frame.width - 2 * MARGIN, height: frame.height - 2 * MARGIN }
  const least = isNarrow(frame) ? READABLE.narrow : READABLE.wide
  const fitting = Math.min(room.width / width, room.height / height, MAX_ZOOM)
  const zoom = Math.max(fitting, least)
  const first = places.get(start) ?? { x: minX, y: minY }
  return {
    zoom,
    x: shift(zoom, { from: minX, size: width, room: room.width, first: first.x }),
    y: shift(zoom, { from: minY, size: height, room: room.height, first: first.y }),
  }
}

/** Centred along an axis that has room for all; otherwise the first step is at the edge, but no
 * space beyond the last step is shown. */
function shift(zoom: number, axis: { from: number; size: number; room: number; first: number }) {
  const { from, size, room, first } = axis
  if (size * zoom <= room) return MARGIN + (room - size * zoom) / 2 - from * zoom
  return Math.max(MARGIN - first * zoom, MARGIN + room - (from + size) * zoom)
}

/**
 * Where a new node fits into a graph that a person has arranged: behind this node, or the last one.
 */
export function freePlace(
  { nodes, edges }: Pick<Draft, 'nodes' | 'edges'>,
  after?: string | null,
): Place | undefined {
  const placed = nodes.flatMap(({ id, position }) =>
    position ? [{ id, x: position.x ?? 0, y: position.y ?? 0 }] : [],
  )
  const base = placed.find((node) => node.id === after) ?? placed.at(-1)
  if (!base) return undefined
  const across = placedAcross(nodes, edges) ?? true
  const place = across
    ? { x: base.x + WIDTH + 64, y: base.y }
    : { x: base.x, y: base.y + HEIGHT + 44 }
  while (placed.some((node) => isOver(node, place)))
    if (across) place.y += HEIGHT + 24
    else place.x += WIDTH + 24
  return place
}

function isOver(a: Place, b: Place): boolean {
  return Math.abs(a.x - b.x) < WIDTH && Math.abs(a.y - b.y) < HEIGHT
}
