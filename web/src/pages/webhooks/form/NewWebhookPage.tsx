import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import type { Webhook } from '../../../api/queries/automation/webhook'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { useAppNavigate } from '../../../ui/AppLink'
import { EditForm } from '../../../ui/form/EditForm'
import { FormActions } from '../../../ui/formPage/FormActions'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { Section } from '../../../ui/layout/Section'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'
import { type WebhookDraft, WebhookFields } from './WebhookFields'
import '../webhooks.css'

const FIRST: WebhookDraft = { name: '', enable: true, signature: 'none', tasks: [], workflows: [] }

export function NewWebhookPage() {
  const t = useText()
  usePageTitle(t.newWebhook)
  const mayEdit = useCan()('webhook.edit')
  return mayEdit ? <NewWebhookForm /> : <EmptyState title={t.adminsEdit} />
}

function NewWebhookForm() {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const [draft, setDraft] = useState(FIRST)
  const create = useMutation({
    mutationFn: () => ok<Webhook>(api.POST('/webhook', { body: draft })),
    onSuccess: (webhook) => {
      void client.invalidateQueries({ queryKey: ['webhook'] })
      showSuccess(t.created)
      go(`/webhooks/${webhook.id}`)
    },
    onError: (fault) => Object.keys(byField(fault)).length === 0 && showError(fault),
  })
  const submit = () => !create.isPending && create.mutate()
  return (
    <EditForm className="hooks-form" onSubmit={submit}>
      <Section title={t.definition} padded>
        <WebhookFields
          draft={draft}
          set={(change) => setDraft((now) => ({ ...now, ...change }))}
          errors={byField(create.error)}
          readOnly={false}
        />
      </Section>
      <FormActions isNew busy={create.isPending} cancelTo="/webhooks" />
    </EditForm>
  )
}
