import type { Shape } from '../../api/client'

export type Node = Shape<'Node'>
export type Edge = Shape<'Edge'>

/** A graph that is being edited, in the format of the server. */
export interface Draft {
  start: string
  nodes: Node[]
  edges: Edge[]
}

export type Fault = 'circle' | 'twice'

/** The default limit of a new edge that closes a loop. */
export const ROUNDS = 3

/** The fault of a new edge, if any. */
export function faultOf(draft: Draft, edge: Edge): Fault | null {
  if (draft.edges.some((other) => sameEdge(other, edge))) return 'twice'
  return !edge.max_visits && isEndless(draft, edge) ? 'circle' : null
}

/** Whether this edge without a bound closes a circle that no other edge bounds. */
export function isEndless(draft: Draft, edge: Edge): boolean {
  const free = draft.edges.filter((other) => !other.max_visits && !sameEdge(other, edge))
  return reaches({ ...draft, edges: free }, edge.target, edge.source)
}

/** Whether this edge is part of a loop. */
export function isLoop(draft: Draft, edge: Edge): boolean {
  return reaches(draft, edge.target, edge.source)
}

export function sameEdge(a: Edge, b: Edge): boolean {
  return (
    a.source === b.source && a.target === b.target && (a.on ?? 'success') === (b.on ?? 'success')
  )
}

/** Whether a node is reachable from another along the edges. */
export function reaches(draft: Draft, from: string, to: string): boolean {
  const visited = new Set<string>()
  const open = [from]
  while (open.length) {
    const here = open.pop()!
    if (here === to) return true
    if (visited.has(here)) continue
    visited.add(here)
    for (const edge of draft.edges) if (edge.source === here) open.push(edge.target)
  }
  return false
}

/** The target of a node: a task, or another workflow. */
export interface Runs {
  id: string
  name: string
  isWorkflow?: boolean
}

export function runsOf(node: Node): string {
  return node.workflow_id || node.task_id || ''
}

/** A name that no node has: a second one of the same gets a number. */
function freeName(draft: Draft, name: string): string {
  const base = name.slice(0, 120) || 'step'
  let id = base
  for (let n = 2; draft.nodes.some((node) => node.id === id); n++) id = `${base} ${n}`
  return id
}

/** A new node, named after the task or workflow that it runs. */
export function withNode(draft: Draft, runs: Runs, position?: { x: number; y: number }): Draft {
  const id = freeName(draft, runs.name)
  const target = runs.isWorkflow ? { workflow_id: runs.id } : { task_id: runs.id }
  const node: Node = { id, ...target, ...(position ? { position } : {}) }
  return { ...draft, start: draft.start || id, nodes: [...draft.nodes, node] }
}

export function withEdge(draft: Draft, edge: Edge): Draft {
  return { ...draft, edges: [...draft.edges, edge] }
}

/** The server accepts no longer name of a node. */
const MAX_NAME = 128

export type NameFault = 'empty' | 'long' | 'used'

/** The fault of a new name of a node, if any. */
export function nameFault(draft: Draft, id: string, name: string): NameFault | null {
  if (!name) return 'empty'
  if (name.length > MAX_NAME) return 'long'
  return name !== id && draft.nodes.some((node) => node.id === name) ? 'used' : null
}

/** The node under another name, with its connections and the arguments that come from it. */
export function withName(draft: Draft, id: string, name: string): Draft {
  const renamed = (other: string) => (other === id ? name : other)
  return {
    start: renamed(draft.start),
    nodes: draft.nodes.map((node) => ({
      ...node,
      id: renamed(node.id),
      ...(node.arguments
        ? { arguments: node.arguments.map((source) => withSource(source, id, name)) }
        : {}),
    })),
    edges: draft.edges.map((edge) => ({
      ...edge,
      source: renamed(edge.source),
      target: renamed(edge.target),
    })),
  }
}

type Source = NonNullable<Node['arguments']>[number]

function withSource(source: Source, id: string, name: string): Source {
  return source.node === id ? { ...source, node: name } : source
}

/** A second node with the same settings, without connections; it is the last one. */
export function withCopy(draft: Draft, id: string, position?: { x: number; y: number }): Draft {
  const node = draft.nodes.find((other) => other.id === id)
  if (!node) return draft
  const { position: _, ...settings } = node
  const copy = { ...settings, id: freeName(draft, id), ...(position ? { position } : {}) }
  return { ...draft, nodes: [...draft.nodes, copy] }
}

export function withoutNode(draft: Draft, id: string): Draft {
  const nodes = draft.nodes.filter((node) => node.id !== id).map((node) => withoutSource(node, id))
  return {
    start: draft.start === id ? (nodes[0]?.id ?? '') : draft.start,
    nodes,
    edges: draft.edges.filter((edge) => edge.source !== id && edge.target !== id),
  }
}

/** An argument that came from a removed node has no value. */
function withoutSource(node: Node, id: string): Node {
  if (!node.arguments?.some((source) => source.node === id)) return node
  return {
    ...node,
    arguments: node.arguments.map((source) => (source.node === id ? { value: '' } : source)),
  }
}

export function withoutEdge(draft: Draft, edge: Edge): Draft {
  return { ...draft, edges: draft.edges.filter((other) => !sameEdge(other, edge)) }
}

/** The same edge with another bound; none: without one. */
export function withBound(edge: Edge, most: number | null): Edge {
  const { max_visits: _, ...rest } = edge
  return most ? { ...rest, max_visits: most } : rest
}

export function replacedEdge(draft: Draft, edge: Edge, next: Edge): Draft {
  return { ...draft, edges: draft.edges.map((other) => (sameEdge(other, edge) ? next : other)) }
}

export function withChange(draft: Draft, id: string, change: Partial<Node>): Draft {
  return {
    ...draft,
    nodes: draft.nodes.map((node) => (node.id === id ? { ...node, ...change } : node)),
  }
}

/** The graph with every node where it is drawn: what is added later moves none of them. */
export function withPlaces(
  draft: Draft,
  places: ReadonlyMap<string, { x: number; y: number }>,
): Draft {
  const placeOf = (id: string) => {
    const place = places.get(id)
    return place ? { position: { x: Math.round(place.x), y: Math.round(place.y) } } : {}
  }
  return { ...draft, nodes: draft.nodes.map((node) => ({ ...node, ...placeOf(node.id) })) }
}

/** Nodes that run before this one, the nearest first. */
export function nodesBefore(draft: Draft, id: string): string[] {
  const before: string[] = []
  let targets = [id]
  while (targets.length) {
    const sources = draft.edges
      .filter((edge) => targets.includes(edge.target))
      .map((edge) => edge.source)
    targets = [...new Set(sources)].filter((source) => source !== id && !before.includes(source))
    before.push(...targets)
  }
  return before
}

/** Nodes that no way from the start leads to: the server would refuse them. */
export function unreachableNodes(draft: Draft): string[] {
  return draft.nodes.filter((node) => !reaches(draft, draft.start, node.id)).map((node) => node.id)
}

/** A graph as lines to compare: one for each step and each connection. */
export function textOf({ start, nodes, edges }: Draft): string {
  const steps = nodes.map(({ id, ...rest }) => `${id}: ${JSON.stringify(rest)}`)
  const lines = edges.map(
    ({ source, target, on, max_visits }) =>
      `${source} -> ${target}: ${on}${max_visits ? ` (${max_visits}×)` : ''}`,
  )
  return [`start: ${start}`, ...steps, ...lines].join('\n')
}
