import { Autocomplete, Select } from '@mantine/core'
import { useState } from 'react'
import { FormDialog } from '../../../ui/form/FormDialog'
import { type Draft, type Edge, isEndless, ROUNDS, withBound } from '../../../ui/graph/graphDraft'
import { useText } from '../text'
import { VisitLimitInput } from './BoundInput'

/** Ends that every step can have. */
export const EVENTS = ['success', 'failure', 'timeout', 'canceled', 'always']

interface Props {
  opened: boolean
  draft: Draft
  onClose: () => void
  /** Whether it could be done. */
  onConnect: (edge: Edge) => boolean
}

/** Connecting without a mouse. */
export function ConnectDialog({ opened, draft, onClose, onConnect }: Props) {
  const t = useText()
  const [source, setSource] = useState<string | null>(null)
  const [target, setTarget] = useState<string | null>(null)
  const [on, setOn] = useState('success')
  const [most, setMost] = useState(ROUNDS)
  const edge = { source: source ?? '', target: target ?? '', on: on.trim() || 'success' }
  const goesRound = !!source && !!target && isEndless(draft, edge)
  const names = draft.nodes.map((node) => node.id)
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={t.connectTitle}
      action={t.connect}
      disabled={!source || !target}
      onSubmit={() => {
        if (source && target && onConnect(withBound(edge, goesRound ? most : null))) onClose()
      }}
    >
      <Select
        data-autofocus
        required
        searchable
        label={t.source}
        data={names}
        value={source}
        onChange={setSource}
      />
      <Autocomplete label={t.on} description={t.onHelp} data={EVENTS} value={on} onChange={setOn} />
      <Select
        required
        searchable
        label={t.target}
        data={names}
        value={target}
        onChange={setTarget}
      />
      {goesRound ? <VisitLimitInput value={most} onChange={(next) => setMost(next ?? 1)} /> : null}
    </FormDialog>
  )
}
