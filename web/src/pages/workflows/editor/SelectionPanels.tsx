import {
  Autocomplete,
  Button,
  NumberInput,
  SegmentedControl,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { Copy, Plus } from 'lucide-react'
import {
  type Draft,
  type Edge,
  faultOf,
  isLoop,
  type Node,
  replacedEdge,
  withBound,
  withChange,
  withoutEdge,
  withoutNode,
} from '../../../ui/graph/graphDraft'
import { edgeText, useText as useGraphText } from '../../../ui/graph/text'
import { showError } from '../../../ui/toast'
import { useText } from '../text'
import { ArgumentSources } from './arguments/ArgumentSources'
import { VisitLimitInput } from './BoundInput'
import { EVENTS } from './ConnectDialog'
import { StepName } from './StepName'

interface StepProps {
  workflowId: string
  node: Node
  draft: Draft
  onChange: (draft: Draft) => void
  onRemove: () => void
  onEdge: (edge: Edge) => void
  /** Adds a step that follows this one. */
  onNext: () => void
  onName: (name: string) => void
  onCopy: () => void
}

/** The settings of one step. */
export function StepPanel(props: StepProps) {
  const { workflowId, node, draft, onChange, onRemove, onEdge, onNext, onName, onCopy } = props
  const t = useText()
  const words = useGraphText()
  const out = draft.edges.filter((edge) => edge.source === node.id)
  const waysIn = draft.edges.filter((edge) => edge.target === node.id).length
  const retry = node.retry ?? { times: 0, delay: 0, backoff: 1, on_lost: false }
  const setRetry = (change: Partial<typeof retry>) => {
    const next = { ...retry, ...change }
    onChange(withChange(draft, node.id, { retry: next.times ? next : null }))
  }
  return (
    <Stack gap="sm">
      <Title order={3} size="h6">
        {t.step}: {node.id}
      </Title>
      <StepName node={node} draft={draft} onName={onName} />
      <Button variant="default" leftSection={<Plus size={14} />} onClick={onNext}>
        {t.addNext}
      </Button>
      <Button variant="default" leftSection={<Copy size={14} />} onClick={onCopy}>
        {t.copyStep}
      </Button>
      <ArgumentSources workflowId={workflowId} node={node} draft={draft} onChange={onChange} />
      <Button
        variant="default"
        disabled={draft.start === node.id}
        onClick={() => onChange({ ...draft, start: node.id })}
      >
        {t.makeStart}
      </Button>
      {waysIn > 1 ? (
        <div>
          <Text size="sm" id="join-label">
            {t.join}
          </Text>
          <SegmentedControl
            size="xs"
            fullWidth
            aria-labelledby="join-label"
            value={node.join ?? 'any'}
            onChange={(join) =>
              onChange(withChange(draft, node.id, { join: join as Node['join'] }))
            }
            data={[
              { value: 'any', label: t.joinAny },
              { value: 'all', label: t.joinAll },
            ]}
          />
        </div>
      ) : null}
      <NumberInput
        size="xs"
        label={`${t.retry}: ${t.retryTimes}`}
        min={0}
        max={20}
        value={retry.times ?? 0}
        onChange={(times) => setRetry({ times: Number(times) || 0 })}
      />
      {retry.times ? (
        <NumberInput
          size="xs"
          label={t.retryDelay}
          min={0}
          value={(retry.delay ?? 0) / 1000}
          onChange={(s) => setRetry({ delay: (Number(s) || 0) * 1000 })}
        />
      ) : null}
      {out.map((edge) => (
        <Button
          key={edgeText(edge, words)}
          size="xs"
          variant="default"
          justify="start"
          aria-label={`${t.editEdge}: ${edgeText(edge, words)}`}
          onClick={() => onEdge(edge)}
        >
          {edgeText(edge, words)}
        </Button>
      ))}
      <Button
        variant="default"
        c="var(--mantine-color-error)"
        onClick={() => {
          onChange(withoutNode(draft, node.id))
          onRemove()
        }}
      >
        {t.removeStep}
      </Button>
    </Stack>
  )
}

interface EdgeProps {
  edge: Edge
  draft: Draft
  /** The next graph, and the result for the edge. */
  onChange: (draft: Draft, edge: Edge | null) => void
}

export function EdgePanel({ edge, draft, onChange }: EdgeProps) {
  const t = useText()
  const put = (next: Edge) => {
    const fault = faultOf(withoutEdge(draft, edge), next)
    if (fault) showError(new Error(t.faults[fault]))
    else onChange(replacedEdge(draft, edge, next), next)
  }
  return (
    <Stack gap="sm">
      <Title order={3} size="h6">
        {t.edge}: {edge.source} → {edge.target}
      </Title>
      <Autocomplete
        size="xs"
        label={t.on}
        description={t.onHelp}
        data={EVENTS}
        value={edge.on ?? 'success'}
        onChange={(on) => put({ ...edge, on })}
      />
      {edge.max_visits || isLoop(draft, edge) ? (
        <VisitLimitInput
          size="xs"
          value={edge.max_visits ?? null}
          onChange={(most) => put(withBound(edge, most))}
        />
      ) : null}
      <Button
        variant="default"
        c="var(--mantine-color-error)"
        onClick={() => onChange(withoutEdge(draft, edge), null)}
      >
        {t.removeEdge}
      </Button>
    </Stack>
  )
}
