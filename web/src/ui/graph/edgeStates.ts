import type { Shape } from '../../api/client'
import type { Edge } from './graphDraft'

type Step = Pick<Shape<'StepRecord'>, 'node_id' | 'state' | 'trigger_name'>

/** The state of an edge in a run; open: its step has not ended yet. */
export type EdgeState = 'followed' | 'skipped' | 'open'

export function edgeStateOf(edge: Edge, steps: Step[]): EdgeState {
  const on = edge.on ?? 'success'
  const ended = steps.filter((step) => step.node_id === edge.source && step.state === 'ended')
  if (ended.some((step) => on === 'always' || step.trigger_name === on)) return 'followed'
  // The next steps start in the transaction that ends the last one: if all have ended, the run has
  // ended.
  const isOver = steps.length > 0 && steps.every((step) => step.state === 'ended')
  return isOver || ended.length > 0 ? 'skipped' : 'open'
}
