import '@xyflow/react/dist/style.css'
import './graph.css'
import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import {
  Background,
  type Connection,
  Controls,
  type Edge as Line,
  MarkerType,
  MiniMap,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react'
import { useEffect, useMemo, useState } from 'react'
import type { Look } from '../../lib/state'
import type { EdgeState } from './edgeStates'
import { FlowNode, type FlowNodeType } from './FlowNode'
import { LoopEdge } from './GraphEdge'
import { type Draft, type Edge, runsOf, sameEdge } from './graphDraft'
import { HEIGHT, isNarrow, laidOut, type Place, viewportOf, WIDTH } from './layout'
import { edgeText, useText } from './text'

/** How far a step of a run is. */
export interface StepState {
  look: Look
  word: string
  /** How often the run came here, where that is more than once. */
  visits?: number
}

interface Props {
  draft: Draft
  /** Names and small print of tasks and workflows, by id. */
  tasks: Map<string, { name: string; detail: string }>
  /** The states of a run, by node. */
  steps?: Map<string, StepState>
  /** The state of an edge in the run. */
  edgeState?: (edge: Edge) => EdgeState
  selected?: string | null
  selectedEdge?: Edge | null
  onSelect?: (node: string | null) => void
  onEdge?: (edge: Edge) => void
  /** All three: the graph can be edited. */
  onConnect?: (source: string, target: string) => void
  /** The places of all nodes after one was moved. */
  onMove?: (places: Map<string, Place>) => void
  onDelete?: (nodes: string[], edges: Edge[]) => void
}

const TYPES = { step: FlowNode }
const LINES = { round: LoopEdge }
const FIT = { padding: 0.1, maxZoom: 1.25 }
/** Constant, and known to the library: without it every change of a step hides the edges until all
 * steps are measured again. */
const MEASURED = { width: WIDTH, height: HEIGHT }
const keyOf = (edge: Edge) => `${edge.source} → ${edge.target} · ${edge.on ?? 'success'}`

/** A workflow as a picture. Everything that it shows is in FlowTable too. */
export function FlowView({
  draft,
  tasks,
  steps,
  edgeState,
  selected,
  selectedEdge,
  onSelect,
  onEdge,
  onConnect,
  onMove,
  onDelete,
}: Props) {
  const t = useText()
  const isDark = useComputedColorScheme('light') === 'dark'
  const { ref, width, height } = useElementSize()
  const frame = { width: width || 900, height: height || 600 }
  const isEdited = !!onMove
  // On a phone a graph that was arranged on a wide screen is laid out again, to be read only.
  const isRearranged = isNarrow(frame) && !isEdited
  const shape = JSON.stringify([draft.nodes.map((node) => node.id), draft.edges])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the shape and the frame move nodes
  const laid = useMemo(() => {
    const free = isRearranged ? draft.nodes.map(({ position: _, ...node }) => node) : draft.nodes
    return laidOut(free, draft.edges, frame)
  }, [shape, frame.width > frame.height, isRearranged])
  // Places while nodes are dragged; the graph changes when they are dropped.
  const [dragged, setDragged] = useState<ReadonlyMap<string, Place>>(new Map())
  const places = new Map(
    draft.nodes.map((node) => {
      const own = dragged.get(node.id) ?? (isRearranged ? null : placeOf(node.position))
      return [node.id, own ?? laid.places.get(node.id) ?? { x: 0, y: 0 }]
    }),
  )
  const [flow, setFlow] = useState<ReactFlowInstance<FlowNodeType, Line> | null>(null)
  const viewport = viewportOf(places, draft.start, frame)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the frame changed, such as by a panel
  useEffect(() => {
    // While it is edited nothing may move under the pointer.
    if (!isEdited && places.size) void flow?.setViewport(viewport)
  }, [flow, width, height, isEdited])
  const nodes = draft.nodes.map((node): FlowNodeType => {
    const task = tasks.get(runsOf(node))
    const step = steps?.get(node.id)
    return {
      id: node.id,
      type: 'step',
      position: places.get(node.id)!,
      measured: MEASURED,
      selected: node.id === selected,
      ariaLabel: t.step(
        step?.visits ? `${node.id} ${t.visits(step.visits)}` : node.id,
        step?.word ?? task?.name ?? t.taskDeleted,
      ),
      data: {
        name: node.id,
        detail: task ? (task.name === node.id ? task.detail : task.name) : t.taskDeleted,
        isStart: node.id === draft.start,
        joinsAll: node.join === 'all',
        isWorkflow: !!node.workflow_id,
        look: steps ? (step?.look ?? 'queue') : undefined,
        word: steps ? (step?.word ?? t.notReached) : undefined,
        visits: step?.visits,
        direction: laid.direction,
      },
    }
  })
  const lines = draft.edges.map((edge): Line => {
    const on = edge.on ?? 'success'
    const isBad = on === 'failure' || on === 'timeout' || on === 'canceled'
    const word = on === 'success' ? '' : (t.on[on] ?? on)
    const bound = edge.max_visits ? `↻ ≤${edge.max_visits}×` : ''
    const state = edgeState?.(edge)
    const isSkipped = state === 'skipped'
    return {
      id: keyOf(edge),
      selected: !!selectedEdge && sameEdge(edge, selectedEdge),
      source: edge.source,
      target: edge.target,
      label: [word, bound].filter(Boolean).join(' · ') || undefined,
      type: edge.max_visits ? 'round' : 'smoothstep',
      className: [edge.max_visits ? 'flow-round' : '', state ? `flow-${state}` : ''].join(' '),
      ariaLabel: `${edge.source}: ${edgeText(edge, t)}`,
      animated: steps?.get(edge.target)?.look === 'run',
      style: isBad && !isSkipped ? { stroke: 'var(--st-fail)' } : undefined,
      markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
    }
  })
  const edgeOf = (line: { id: string }) => draft.edges.find((edge) => keyOf(edge) === line.id)
  return (
    <section className="flow" ref={ref} aria-label={t.graph}>
      <div className="flow-inside">
        <ReactFlow
          key={`${laid.direction} ${width > 0}`}
          defaultViewport={viewport}
          nodes={nodes}
          edges={lines}
          nodeTypes={TYPES}
          edgeTypes={LINES}
          nodesDraggable={!!onMove}
          nodesConnectable={!!onConnect}
          edgesFocusable={!!onEdge}
          onNodeClick={(_, node) => onSelect?.(node.id)}
          onPaneClick={() => onSelect?.(null)}
          onEdgeClick={(_, line) => {
            const edge = edgeOf(line)
            if (edge) onEdge?.(edge)
          }}
          onConnect={({ source, target }: Connection) => onConnect?.(source, target)}
          onNodesChange={(changes) => {
            const moves = changes.flatMap((change) =>
              change.type === 'position' && change.position
                ? [[change.id, change.position] as const]
                : [],
            )
            if (moves.length) setDragged((now) => new Map([...now, ...moves]))
          }}
          onNodeDragStop={(_, _node, moved) => {
            const all = [...nodes, ...moved].map(({ id, position }) => [id, position] as const)
            onMove?.(new Map(all))
            setDragged(new Map())
          }}
          onDelete={({ nodes: deleted, edges }) =>
            onDelete?.(
              deleted.map((node) => node.id),
              edges.map(edgeOf).filter((edge) => edge !== undefined),
            )
          }
          deleteKeyCode={onDelete ? ['Delete', 'Backspace'] : null}
          onInit={setFlow}
          minZoom={0.1}
          colorMode={isDark ? 'dark' : 'light'}
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={18} />
          <Controls showInteractive={false} fitViewOptions={FIT} />
          {draft.nodes.length > 12 && width > 640 ? (
            <MiniMap pannable zoomable nodeColor="var(--mantine-color-dimmed)" />
          ) : null}
        </ReactFlow>
      </div>
    </section>
  )
}

function placeOf(position: { x?: number; y?: number } | null | undefined): Place | null {
  return position?.x !== undefined && position.y !== undefined
    ? { x: position.x, y: position.y }
    : null
}
