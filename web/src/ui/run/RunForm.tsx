import {
  Alert,
  Anchor,
  Button,
  Collapse,
  Group,
  JsonInput,
  Kbd,
  SegmentedControl,
  Stack,
  Text,
  UnstyledButton,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ChevronDown, ChevronRight, Play } from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { Shape } from '../../api/client'
import { useKeys } from '../../app/keys'
import { ArgumentForm } from '../arguments/ArgumentForm'
import { toShow } from '../arguments/values'
import { useWords } from '../text'
import { curlCall } from './calls/apiCalls'
import { CallText } from './calls/CallText'
import type { JobValues, Runnable, Target } from './target'
import { useText } from './text'
import { type Run, useRun } from './useRun'

interface Props {
  target: Target
  runnable: Runnable
  from?: JobValues
  onStarted: (job: Shape<'JobRecord'>) => void
  onClose: () => void
}

export function RunForm({ target, runnable, from, onStarted, onClose }: Props) {
  const t = useText()
  const w = useWords()
  const run = useRun(target, runnable, onStarted, from)
  const box = useRef<HTMLDivElement>(null)
  useKeys({ 'mod+Enter': run.start })
  useEffect(() => focusFirst(box.current), [])
  return (
    <Stack gap="sm" ref={box}>
      <Body run={run} runnable={runnable} />
      {run.refusal ? (
        <Alert color="red" title={t.refused} role="alert">
          {run.refusal}
        </Alert>
      ) : null}
      {from?.step ? null : <Call target={target} run={run} runnable={runnable} />}
      <Group justify="flex-end" gap={8}>
        <Button variant="default" onClick={onClose}>
          {w.cancel}
        </Button>
        <Button
          data-run
          leftSection={<Play size={14} />}
          rightSection={<Kbd size="xs">Ctrl ↵</Kbd>}
          onClick={run.start}
          loading={run.isBusy}
          disabled={!!run.whyNot}
          title={run.whyNot}
        >
          {t.run}
        </Button>
      </Group>
      {run.whyNot ? (
        <Text size="xs" c="dimmed" ta="right">
          {run.whyNot}
        </Text>
      ) : null}
    </Stack>
  )
}

/** The definition came after the dialog: the first field, or the button, takes the focus now. */
function focusFirst(box: HTMLElement | null): void {
  const fields = 'input:not([type="radio"]):not(:disabled), textarea, [data-run]'
  box?.querySelector<HTMLElement>(fields)?.focus()
}

function Body({ run, runnable }: { run: Run; runnable: Runnable }) {
  const t = useText()
  if (runnable.arguments === null)
    return (
      <>
        <Text size="sm">{t.hiddenStart}</Text>
        <AsJson run={run} />
      </>
    )
  if (runnable.arguments.length === 0) return <Text size="sm">{t.noArguments}</Text>
  return (
    <>
      <Group justify="space-between">
        <SegmentedControl
          size="xs"
          aria-label={t.jsonLabel}
          value={run.isJson ? 'json' : 'form'}
          onChange={(next) => run.setJson(next === 'json')}
          data={[
            { value: 'form', label: t.form },
            { value: 'json', label: t.json },
          ]}
        />
        {run.isRemembered ? (
          <Text size="xs" c="dimmed">
            {t.remembered}{' '}
            <Anchor component="button" type="button" size="xs" onClick={run.forget}>
              {t.forget}
            </Anchor>
          </Text>
        ) : null}
      </Group>
      {run.isJson ? (
        <AsJson run={run} hint={t.jsonHint(runnable.arguments.length)} />
      ) : (
        <ArgumentForm
          arguments={runnable.arguments}
          value={run.values}
          onChange={run.setValues}
          errors={run.errors}
        />
      )}
    </>
  )
}

function AsJson({ run, hint }: { run: Run; hint?: string }) {
  const t = useText()
  const faults = Object.entries(run.errors).map(([field, fault]) => `${field}: ${fault}`)
  return (
    <JsonInput
      label={t.jsonLabel}
      description={hint}
      autosize
      minRows={6}
      maxRows={18}
      classNames={{ input: 'mono' }}
      value={run.text}
      onChange={run.setText}
      error={faults.join(' ') || undefined}
    />
  )
}

function Call({ target, run, runnable }: { target: Target; run: Run; runnable: Runnable }) {
  const t = useText()
  const [opened, { toggle }] = useDisclosure()
  const visible = toShow(runnable.arguments ?? [], run.values)
  const Chevron = opened ? ChevronDown : ChevronRight
  return (
    <div>
      <UnstyledButton onClick={toggle} aria-expanded={opened} mb={6}>
        <Group gap={4}>
          <Chevron size={14} aria-hidden="true" />
          <Text size="sm">{t.call}</Text>
        </Group>
      </UnstyledButton>
      <Collapse expanded={opened}>
        {opened ? (
          <CallText text={curlCall(target, { token: true }, visible)} label={t.call} />
        ) : null}
      </Collapse>
    </div>
  )
}
