import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { StateIcon } from '../state/StateIcon'
import type { StepState } from './FlowView'
import { type Draft, runsOf } from './graphDraft'
import { edgeText, useText } from './text'

interface Props {
  draft: Draft
  tasks: Map<string, { name: string; detail: string }>
  steps?: Map<string, StepState>
  /** Buttons at the end of a row. */
  actions?: (node: string) => ReactNode
}

/** The same graph for screen readers and keyboards: one row per step, with the next steps. */
export function FlowTable({ draft, tasks, steps, actions }: Props) {
  const t = useText()
  return (
    // An area that scrolls sideways on a narrow screen must be reachable by keyboard.
    <section className="flow-scroll" tabIndex={0} aria-label={t.graph}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.node}</Table.Th>
            <Table.Th>{t.task}</Table.Th>
            <Table.Th>{t.follows}</Table.Th>
            {actions ? <Table.Th /> : null}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {draft.nodes.map((node) => {
            const step = steps?.get(node.id)
            const out = draft.edges.filter((edge) => edge.source === node.id)
            return (
              <Table.Tr key={node.id}>
                <Table.Td>
                  <span className="flow-cell">
                    {steps ? (
                      <StateIcon look={step?.look ?? 'queue'} title={step?.word ?? t.notReached} />
                    ) : null}
                    {node.id}
                    {node.id === draft.start ? ` (${t.start})` : ''}
                    {step?.visits ? ` ${t.visits(step.visits)}` : ''}
                  </span>
                </Table.Td>
                <Table.Td>
                  {node.workflow_id ? `${t.workflow} · ` : ''}
                  {tasks.get(runsOf(node))?.name ?? t.taskDeleted}
                </Table.Td>
                <Table.Td>
                  {out.length ? out.map((edge) => edgeText(edge, t)).join(', ') : t.end}
                </Table.Td>
                {actions ? <Table.Td>{actions(node.id)}</Table.Td> : null}
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </section>
  )
}
