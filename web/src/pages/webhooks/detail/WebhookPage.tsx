import { Badge, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { type Webhook, webhookQuery } from '../../../api/queries/automation/webhook'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { useAppNavigate } from '../../../ui/AppLink'
import { reportSaveError } from '../../../ui/editConflict/EditConflict'
import { FieldsConflict } from '../../../ui/editConflict/FieldsConflict'
import { useHeldVersion } from '../../../ui/editConflict/heldVersion'
import { DeleteButton } from '../../../ui/form/EditForm'
import { UnsavedChanges } from '../../../ui/form/UnsavedChanges'
import { FormActions } from '../../../ui/formPage/FormActions'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { Ago } from '../../../ui/state/Time'
import { showSuccess } from '../../../ui/toast'
import { WebhookAddress } from '../form/WebhookAddress'
import { type WebhookDraft, WebhookFields } from '../form/WebhookFields'
import { useText } from '../text'
import { Deliveries } from './Deliveries'
import { TestCall } from './TestCall'
import '../webhooks.css'

const webhookRoute = getRouteApi('/$customer/webhooks/$id')

export function WebhookPage() {
  const t = useText()
  const { id } = webhookRoute.useParams()
  const query = useQuery(webhookQuery(id))
  usePageTitle(query.data?.name ?? t.list, t.list)
  return <QueryResult query={query}>{(hook) => <Inside key={hook.id} hook={hook} />}</QueryResult>
}

function useSave(hook: Webhook) {
  const t = useText()
  const client = useQueryClient()
  const heldVersion = useHeldVersion(hook, pick)
  const { base, isDirty, edits } = heldVersion
  const again = () => void client.invalidateQueries({ queryKey: ['webhook', hook.id] })
  const save = useMutation({
    mutationFn: () => change(base, edits),
    onSuccess: (saved) => {
      client.setQueryData(webhookQuery(hook.id).queryKey, saved)
      heldVersion.rebase(saved, false)
      void client.invalidateQueries({ queryKey: ['task'] })
      showSuccess(t.saved)
    },
    onError: (fault) => Object.keys(byField(fault)).length === 0 && reportSaveError(fault, again),
  })
  const notice = (
    <FieldsConflict object="webhook" heldVersion={heldVersion} fieldsOf={pick} save={save} />
  )
  return {
    draft: heldVersion.values,
    isDirty,
    isBusy: save.isPending,
    errors: byField(save.error),
    set: heldVersion.set,
    submit: () => {
      if (isDirty && !save.isPending) save.mutate()
    },
    notice,
  }
}

function pick({ name, enable, signature, tasks, workflows }: Webhook): WebhookDraft {
  return { name, enable, signature, tasks, workflows }
}

function change(hook: Webhook, body: Partial<WebhookDraft>): Promise<Webhook> {
  const request = {
    params: { path: { id: hook.id } },
    headers: { 'if-match': String(hook.version) },
    body,
  }
  return ok<Webhook>(api.PATCH('/webhook/{id}', request as never))
}

function Inside({ hook }: { hook: Webhook }) {
  const t = useText()
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
      </div>
      {form.notice}
      <div className="hooks-split">
        <Stack gap={12}>
          <Section title={t.definition} padded>
            <WebhookFields
              draft={form.draft}
              set={form.set}
              errors={form.errors}
              readOnly={!mayEdit}
            />
          </Section>
          <Section title={t.address} padded>
            <WebhookAddress hook={hook} />
          </Section>
        </Stack>
        <Stack gap={12}>
          {mayEdit ? (
            <Section title={t.test} padded>
              <TestCall hook={hook} />
            </Section>
          ) : null}
          <Section title={t.deliveries} padded={!mayEdit}>
            {mayEdit ? <Deliveries id={hook.id} /> : <Text size="sm">{t.adminsOnly}</Text>}
          </Section>
        </Stack>
      </div>
      {mayEdit ? (
        <FormActions
          busy={form.isBusy}
          disabled={!form.isDirty}
          onSubmit={form.submit}
          cancelTo="/webhooks"
        >
          <Remove hook={hook} />
        </FormActions>
      ) : null}
      <UnsavedChanges when={form.isDirty && mayEdit} />
    </>
  )
}

function Remove({ hook }: { hook: Webhook }) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const remove = async () => {
    await ok(api.DELETE('/webhook/{id}', { params: { path: { id: hook.id } } }))
    showSuccess(t.deleted)
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
