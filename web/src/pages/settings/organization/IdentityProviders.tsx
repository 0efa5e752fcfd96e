import { Badge, Button, Select, Switch, TagsInput, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { LogIn, Plus } from 'lucide-react'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { byField } from '../../../api/errors'
import { useCan } from '../../../app/session'
import { CopyField } from '../../../ui/form/CopyField'
import { EditMenu } from '../../../ui/form/EditMenu'
import { FormDialog } from '../../../ui/form/FormDialog'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { useWords } from '../../../ui/text'
import { showError } from '../../../ui/toast'
import { useText } from '../text'
import '../settings.css'

type Provider = Shape<'ProviderRecord'>
const KEY = ['provider', 'list']

/** Sign-in through OpenID Connect: any number of providers of the organization. */
export function IdentityProviders() {
  const t = useText()
  const isOwner = useCan()('organization.edit')
  const providers = useQuery({ queryKey: KEY, queryFn: () => ok(api.GET('/api/provider')) })
  const [editing, setEditing] = useState<Provider | 'new' | null>(null)
  return (
    <Section
      title={t.providers}
      aside={t.providersHelp}
      right={
        <Button
          leftSection={<Plus size={14} />}
          disabled={!isOwner}
          onClick={() => setEditing('new')}
        >
          {t.newProvider}
        </Button>
      }
    >
      <QueryResult query={providers} lines={2}>
        {(all) =>
          all.length ? (
            <div role="list">
              {all.map((provider) => (
                <ProviderRow
                  key={provider.id}
                  provider={provider}
                  mayEdit={isOwner}
                  onEdit={() => setEditing(provider)}
                />
              ))}
            </div>
          ) : (
            <EmptyState icon={LogIn} title={t.noProviders}>
              {t.noProvidersBody}
            </EmptyState>
          )
        }
      </QueryResult>
      {editing ? (
        <ProviderDialog
          key={editing === 'new' ? 'new' : editing.id}
          provider={editing === 'new' ? null : editing}
          onCreated={setEditing}
          onClose={() => setEditing(null)}
        />
      ) : null}
    </Section>
  )
}

function ProviderRow({
  provider,
  mayEdit,
  onEdit,
}: {
  provider: Provider
  mayEdit: boolean
  onEdit: () => void
}) {
  const t = useText()
  const w = useWords()
  return (
    <div role="listitem" className="row settings-session">
      <div className="clip">
        <Text size="sm" fw={550} className="clip">
          {provider.name} {provider.enabled ? null : <Badge size="xs">{w.no}</Badge>}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {provider.issuer}
        </Text>
      </div>
      <Text size="xs" c="dimmed">
        {provider.level || t.mustInvite}
      </Text>
      {mayEdit ? (
        <EditMenu
          name={provider.name}
          onEdit={onEdit}
          remove={() =>
            ok(api.DELETE('/api/provider/{id}', { params: { path: { id: provider.id } } }))
          }
          queryKey={KEY}
        />
      ) : null}
    </div>
  )
}

function ProviderDialog({
  provider,
  onCreated,
  onClose,
}: {
  provider: Provider | null
  onCreated: (provider: Provider) => void
  onClose: () => void
}) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const [form, setForm] = useState({
    name: provider?.name ?? '',
    issuer: provider?.issuer ?? '',
    client_id: provider?.client_id ?? '',
    client_secret: '',
    domains: provider?.domains ?? [],
    level: provider?.level ?? '',
    enabled: provider?.enabled ?? true,
  })
  const [isSwitching, setSwitching] = useState(false)
  const set = (change: Partial<typeof form>) => setForm({ ...form, ...change })
  const save = useMutation({
    mutationFn: () => {
      const { client_secret, ...rest } = form
      const body = {
        ...rest,
        ...(client_secret ? { client_secret } : {}),
        ...(isSwitching ? { callback: 'own' } : {}),
      }
      return provider
        ? ok(api.PATCH('/api/provider/{id}', { params: { path: { id: provider.id } }, body }))
        : ok(api.POST('/api/provider', { body }))
    },
    onError: showError,
    onSuccess: (saved) => {
      void client.invalidateQueries({ queryKey: KEY })
      // Its callback is known only now, and must be registered at the provider.
      if (provider) onClose()
      else onCreated(saved)
    },
  })
  const faults = byField(save.error)
  const field = (name: 'name' | 'issuer' | 'client_id') => ({
    required: true,
    value: form[name],
    error: faults[name],
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      set({ [name]: event.currentTarget.value }),
  })
  return (
    <FormDialog
      onClose={onClose}
      title={provider?.name ?? t.newProvider}
      size="lg"
      action={provider ? w.save : w.create}
      busy={save.isPending}
      onSubmit={() => save.mutate()}
    >
      <TextInput data-autofocus label={w.name} {...field('name')} />
      <TextInput label={t.issuer} description={t.issuerHelp} type="url" {...field('issuer')} />
      <TextInput label={t.clientId} {...field('client_id')} />
      <TextInput
        label={t.clientSecret}
        placeholder={provider ? t.keepSecret : ''}
        type="password"
        autoComplete="off"
        value={form.client_secret}
        error={faults.client_secret}
        onChange={(event) => set({ client_secret: event.currentTarget.value })}
      />
      <TagsInput
        label={t.domains}
        description={t.domainsHelp}
        value={form.domains}
        onChange={(domains) => set({ domains })}
      />
      <Select
        label={t.firstLevel}
        allowDeselect={false}
        data={[{ value: '', label: t.mustInvite }, 'viewer', 'user', 'manager', 'admin']}
        value={form.level}
        onChange={(level) => set({ level: level ?? '' })}
      />
      <Switch
        label={t.enabled}
        checked={form.enabled}
        onChange={(event) => set({ enabled: event.currentTarget.checked })}
      />
      {provider ? (
        <div>
          <Text size="sm">{t.callback}</Text>
          <CopyField value={provider.callback} label={t.callback} />
        </div>
      ) : null}
      {provider?.callback_kind === 'shared' ? (
        <div>
          <Text size="sm">{t.sharedCallback}</Text>
          <CopyField value={provider.own_callback} label={t.ownCallback} />
          <Switch
            mt="xs"
            label={t.switchCallback}
            checked={isSwitching}
            onChange={(event) => setSwitching(event.currentTarget.checked)}
          />
        </div>
      ) : null}
    </FormDialog>
  )
}
