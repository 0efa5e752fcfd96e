import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import type { Webhook } from '../../../api/queries/automation/webhook'
import { useKeys } from '../../../app/keys'
import { nameOf } from '../../../ui/arguments/values'
import { CodeEditor } from '../../../ui/editor/CodeEditor'
import { runnableQuery, type Target } from '../../../ui/run/target'
import { useTargets } from '../../../ui/run/targetList'
import { attachedTargets } from '../attachedTargets'
import { useSamplePayload } from '../samplePayload'
import { useText } from '../text'
import { type ArgumentSource, mapPayload, payloadElements } from './payloadMapping'

/** The payload is sent as it was entered: numbers keep their digits. */
function trigger(id: string, payload: string): Promise<Shape<'Triggered'>> {
  const request = {
    params: { path: { id } },
    body: payload,
    bodySerializer: (text: string) => text,
    headers: { 'content-type': 'application/json' },
  }
  return ok<Shape<'Triggered'>>(api.POST('/webhook/{id}/trigger', request as never))
}

/** Sends a payload, and shows beforehand which arguments it fills. */
export function TestCall({ hook }: { hook: Webhook }) {
  const t = useText()
  const client = useQueryClient()
  const sample = useSamplePayload(hook)
  const [typed, setPayload] = useState<string | null>(null)
  const payload = typed ?? sample ?? '[]'
  const parsed = payloadElements(payload)
  const targets = attachedTargets(hook, useTargets())
  const send = useMutation({
    mutationFn: () => trigger(hook.id, payload),
    onSettled: () => void client.invalidateQueries({ queryKey: ['webhook', hook.id] }),
  })
  const submit = () => parsed && !send.isPending && send.mutate()
  useKeys({ 'mod+Enter': submit })
  return (
    <Stack gap="sm">
      <Text size="sm">{t.testBody}</Text>
      <CodeEditor
        label={t.body}
        height={150}
        value={payload}
        onChange={setPayload}
        filename="payload.json"
      />
      {parsed ? null : (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {t.notJson}
        </Text>
      )}
      {parsed && !parsed.isArray ? <Text size="sm">{t.wrapped}</Text> : null}
      {parsed
        ? targets.map((target) => (
            <Mapping key={target.id} target={target} elements={parsed.elements} />
          ))
        : null}
      {hook.tasks.length + hook.workflows.length === 0 ? (
        <Text size="sm">{t.testRunsNothing}</Text>
      ) : null}
      {send.data ? <Alert color="teal">{t.accepted(send.data.jobs.length)}</Alert> : null}
      {send.error ? (
        <Alert color="red" role="alert">
          {send.error.message}
        </Alert>
      ) : null}
      <Group justify="flex-end">
        <Button
          leftSection={<Send size={14} />}
          disabled={!parsed}
          loading={send.isPending}
          onClick={submit}
        >
          {t.send}
        </Button>
      </Group>
    </Stack>
  )
}

function Mapping({ target, elements }: { target: Target; elements: unknown[] }) {
  const t = useText()
  const { data } = useQuery(runnableQuery(target))
  if (!data) return null
  const definitions = data.arguments
  const places = definitions ? mapPayload(definitions, elements) : []
  const over = definitions ? Math.max(0, elements.length - definitions.length) : 0
  return (
    <div>
      <Text size="sm" fw={600}>
        {target.name}
        {definitions?.length === 0 ? `: ${t.noArgs}` : ''}
      </Text>
      {definitions === null ? <Text size="sm">{t.hiddenArgs}</Text> : null}
      {definitions?.length ? (
        <table className="hooks-map" aria-label={`${t.mapping}: ${target.name}`}>
          <thead>
            <tr>
              <th scope="col">{t.element}</th>
              <th scope="col">{t.argument}</th>
              <th scope="col">{t.gets}</th>
            </tr>
          </thead>
          <tbody>
            {places.map((place, n) => (
              <tr key={n}>
                <td className="num">{place.kind === 'given' ? n + 1 : '—'}</td>
                <td>{nameOf(definitions[n]!, n)}</td>
                <td>
                  <ArgumentValue place={place} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      {over ? (
        <Text size="xs" c="dimmed">
          {t.ignored(over)}
        </Text>
      ) : null}
    </div>
  )
}

function ArgumentValue({ place }: { place: ArgumentSource }) {
  const t = useText()
  if (place.kind === 'missing')
    return (
      <Text size="sm" c="var(--mantine-color-error)">
        {t.missing}
      </Text>
    )
  if (place.kind === 'blank')
    return (
      <Text size="sm" c="dimmed">
        {t.blank}
      </Text>
    )
  return (
    <>
      <code>{place.text || '""'}</code>
      {place.kind === 'fixed' ? (
        <Text span size="xs" c="dimmed">
          {' '}
          {t.fixed}
        </Text>
      ) : null}
    </>
  )
}
