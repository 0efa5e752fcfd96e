import dagre from '@dagrejs/dagre'
import { type Edge, isEndless, type Node } from './graphDraft'

export const WIDTH = 184
export const HEIGHT = 52

export interface Place {
  x: number
  y: number
}

interface Laid {
  places: Map<string, Place>
  direction: 'TB' | 'LR'
}

/** Where the nodes stand: of both directions, the one that is shown larger in this frame. Nodes
 * that somebody placed by hand say themselves which way they run. */
export function laidOut(
  nodes: Node[],
  edges: Edge[],
  frame: { width: number; height: number },
): Laid {
  const across = lay(nodes, edges, 'LR')
  const down = lay(nodes, edges, 'TB')
  const zoom = (layout: ReturnType<typeof lay>) =>
    Math.min(frame.width / layout.width, frame.height / layout.height)
  const better = (placedAcross(nodes) ?? zoom(across) >= zoom(down)) ? across : down
  return { places: better.places, direction: better.direction }
}

function placedAcross(nodes: Node[]): boolean | null {
  const placed = nodes.flatMap((node) => (node.position ? [node.position] : []))
  if (placed.length < 2) return null
  const spread = (of: 'x' | 'y') => {
    const all = placed.map((point) => point[of] ?? 0)
    return Math.max(...all) - Math.min(...all)
  }
  return spread('x') >= spread('y')
}

function lay(nodes: Node[], edges: Edge[], direction: 'TB' | 'LR') {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir: direction, nodesep: 24, ranksep: direction === 'TB' ? 44 : 64 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const node of nodes) graph.setNode(node.id, { width: WIDTH, height: HEIGHT })
  // What leads back must not turn the order round.
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
