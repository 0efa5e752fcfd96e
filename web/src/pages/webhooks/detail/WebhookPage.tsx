import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Save } from 'lucide-react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { type Webhook, webhookQuery } from '../../../api/queries/automation/webhook'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { useGo } from '../../../ui/AppLink'
import { tellFailed } from '../../../ui/editConflict/EditConflict'
import { FieldsMeanwhile } from '../../../ui/editConflict/FieldsConflict'
import { useHeld } from '../../../ui/editConflict/heldVersion'
import { DeleteButton } from '../../../ui/form/EditForm'
import { Unsaved } from '../../../ui/form/UnsavedChanges'
import { Loaded } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { Ago } from '../../../ui/state/Time'
import { useWords } from '../../../ui/text'
import { done } from '../../../ui/toast'
import { Address } from '../form/WebhookAddress'
import { type Draft, Fields } from '../form/WebhookFields'
import { useText } from '../text'
import { Deliveries } from './Deliveries'
import { Test } from './TestCall'
import '../webhooks.css'

const webhookRoute = getRouteApi('/$customer/webhooks/$id')

export function WebhookPage() {
  const t = useText()
  const { id } = webhookRoute.useParams()
  const query = useQuery(webhookQuery(id))
  usePageTitle(query.data?.name ?? t.list, t.list)
  return <Loaded query={query}>{(hook) => <Inside key={hook.id} hook={hook} />}</Loaded>
}

function useSave(hook: Webhook) {
  const t = useText()
  const client = useQueryClient()
  const held = useHeld(hook, pick)
  const { base, isDirty, edits } = held
  const again = () => void client.invalidateQueries({ queryKey: ['webhook', hook.id] })
  const save = useMutation({
    mutationFn: () => change(base, edits),
    onSuccess: (saved) => {
      client.setQueryData(webhookQuery(hook.id).queryKey, saved)
      held.rebase(saved, false)
      void client.invalidateQueries({ queryKey: ['task'] })
      done(t.saved)
    },
    onError: (fault) => Object.keys(byField(fault)).length === 0 && tellFailed(fault, again),
  })
  const notice = <FieldsMeanwhile object="webhook" held={held} fieldsOf={pick} save={save} />
  return {
    draft: held.values,
    isDirty,
    isBusy: save.isPending,
    errors: byField(save.error),
    set: held.set,
    submit: () => isDirty && !save.isPending && save.mutate(),
    notice,
  }
}

function pick({ name, enable, signature, tasks, workflows }: Webhook): Draft {
  return { name, enable, signature, tasks, workflows }
}

function change(hook: Webhook, body: Partial<Draft>): Promise<Webhook> {
  const asked = {
    params: { path: { id: hook.id } },
    headers: { 'if-match': String(hook.version) },
    body,
  }
  return ok<Webhook>(api.PATCH('/webhook/{id}', asked as never))
}

function Inside({ hook }: { hook: Webhook }) {
  const t = useText()
  const w = useWords()
  const mayEdit = useCan()('webhook.edit')
  const form = useSave(hook)
  useKeys(mayEdit ? { 'mod+s': form.submit } : {})
  return (
    <>
      <div className="hooks-bar">
        <Title order={2} size="h4" className="clip">
          {hook.name}
        </Title>
        {hook.enable ? null : <Badge>{t.off}</Badge>}
        <Text size="xs" c="dimmed" component="div">
          {t.calls(hook.trigger_count)} ·{' '}
          {hook.last_triggered ? (
            <>
              {t.lastCall} <Ago at={hook.last_triggered} />
            </>
          ) : (
            t.neverCalled
          )}
        </Text>
        {mayEdit ? (
          <Group ml="auto" gap={8}>
            <Remove hook={hook} />
            <Button
              leftSection={<Save size={14} />}
              disabled={!form.isDirty}
              loading={form.isBusy}
              onClick={form.submit}
            >
              {w.save}
            </Button>
          </Group>
        ) : null}
      </div>
      {form.notice}
      <div className="hooks-split">
        <Stack gap={12}>
          <Section title={t.definition} padded>
            <Fields draft={form.draft} set={form.set} errors={form.errors} readOnly={!mayEdit} />
          </Section>
          <Section title={t.address} padded>
            <Address hook={hook} />
          </Section>
        </Stack>
        <Stack gap={12}>
          {mayEdit ? (
            <Section title={t.test} padded>
              <Test hook={hook} />
            </Section>
          ) : null}
          <Section title={t.deliveries} padded={!mayEdit}>
            {mayEdit ? <Deliveries id={hook.id} /> : <Text size="sm">{t.adminsOnly}</Text>}
          </Section>
        </Stack>
      </div>
      <Unsaved when={form.isDirty && mayEdit} />
    </>
  )
}

function Remove({ hook }: { hook: Webhook }) {
  const t = useText()
  const go = useGo()
  const client = useQueryClient()
  const remove = async () => {
    await ok(api.DELETE('/webhook/{id}', { params: { path: { id: hook.id } } }))
    done(t.deleted)
    go('/webhooks')
    client.removeQueries({ queryKey: ['webhook', hook.id] })
    void client.invalidateQueries({ queryKey: ['webhook', 'list'] })
  }
  return (
    <DeleteButton name={hook.name} word={hook.name} onDelete={remove}>
      {t.deleteBody}
    </DeleteButton>
  )
}
