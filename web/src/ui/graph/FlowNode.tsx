import { type Node as Drawn, Handle, type NodeProps, Position } from '@xyflow/react'
import type { Look } from '../../lib/state'
import { StateIcon } from '../state/StateIcon'
import { useText } from './text'

export interface NodeData extends Record<string, unknown> {
  name: string
  /** The task's name or host, in small print. */
  detail: string
  isStart: boolean
  joinsAll: boolean
  isWorkflow: boolean
  look?: Look
  word?: string
  /** How often a run came here, where that is more than once. */
  visits?: number
  direction: 'TB' | 'LR'
}

export type FlowNodeType = Drawn<NodeData, 'step'>

/** One step in the picture. */
export function FlowNode({ data, selected }: NodeProps<FlowNodeType>) {
  const t = useText()
  const [into, out] =
    data.direction === 'LR' ? [Position.Left, Position.Right] : [Position.Top, Position.Bottom]
  const marks = [
    data.isStart ? t.start : '',
    data.joinsAll ? t.all : '',
    data.isWorkflow ? t.workflow : '',
  ].filter(Boolean)
  return (
    <div
      className="flow-node"
      data-look={data.look}
      data-selected={selected}
      data-start={data.isStart}
      data-whole={data.isWorkflow}
    >
      <Handle type="target" position={into} aria-hidden="true" />
      {data.look ? <StateIcon look={data.look} title={data.word} /> : null}
      <div className="clip">
        <b className="clip">{data.name}</b>
        <small className="clip">{[...marks, data.detail].filter(Boolean).join(' · ')}</small>
      </div>
      {data.visits ? <span className="flow-visits">{t.visits(data.visits)}</span> : null}
      <Handle type="source" position={out} aria-hidden="true" />
    </div>
  )
}
