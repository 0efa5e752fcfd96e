import { Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { byField, isStale } from '../../../api/errors'
import { type Monitor, monitorQuery } from '../../../api/queries/monitoring/monitor'
import { hostNamesQuery } from '../../../api/queries/names'
import { usePageTitle } from '../../../app/title'
import { AppLink, useAppNavigate } from '../../../ui/AppLink'
import { reportSaveError } from '../../../ui/editConflict/EditConflict'
import { FieldsConflict } from '../../../ui/editConflict/FieldsConflict'
import { useHeldVersion } from '../../../ui/editConflict/heldVersion'
import { DeleteButton, FormError } from '../../../ui/form/EditForm'
import { FormActions } from '../../../ui/formPage/FormActions'
import { IfAllowed } from '../../../ui/IfAllowed'
import { useMonitoringText } from '../../../ui/monitoring/text'
import { useOwnChannels } from '../../../ui/notify/ownRule'
import { useWords } from '../../../ui/text'
import { showError, showSuccess } from '../../../ui/toast'
import { useMonitorActions } from '../actions'
import { MonitorLayout } from '../detail/MonitorLayout'
import { useText } from '../text'
import { CheckNow } from './CheckNow'
import {
  bodyOf,
  CREATABLE_KINDS,
  KIND_ICONS,
  needsHost,
  newValues,
  useKindHelp,
  type Values,
  valuesOf,
} from './kinds'
import { useKindText } from './kindText'
import { MonitorForm } from './MonitorForm'
import { PushUrl } from './PushUrl'
import '../monitors.css'

const monitorSettingsRoute = getRouteApi('/$customer/monitors/$id/settings')
const newMonitorRoute = getRouteApi('/$customer/monitors/new')

export function NewMonitorPage() {
  usePageTitle(useText().new)
  const { kind } = newMonitorRoute.useSearch()
  return (
    <IfAllowed action="monitor.edit">
      {kind && CREATABLE_KINDS.includes(kind) ? <Make kind={kind} key={kind} /> : <Choose />}
    </IfAllowed>
  )
}

function Choose() {
  const t = useKindText()
  const { kinds } = useMonitoringText()
  const kindHelp = useKindHelp()
  const { host } = newMonitorRoute.useSearch()
  return (
    <Stack gap="md">
      <Title order={2} size="h5">
        {t.choose}
      </Title>
      <div className="mon-kinds">
        {CREATABLE_KINDS.map((kind) => {
          const Icon = KIND_ICONS[kind]
          return (
            <AppLink key={kind} to="/monitors/new" search={{ kind, host }} className="mon-kind">
              {Icon ? <Icon size={18} aria-hidden /> : null}
              <Text fw={600} size="sm">
                {kinds[kind]}
              </Text>
              <Text size="xs" c="dimmed">
                {kindHelp[kind]}
              </Text>
            </AppLink>
          )
        })}
      </div>
    </Stack>
  )
}

function Make({ kind }: { kind: string }) {
  const t = useKindText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const { kinds } = useMonitoringText()
  const kindHelp = useKindHelp()
  const { host } = newMonitorRoute.useSearch()
  const { data: hosts } = useQuery(hostNamesQuery)
  const [values, setValues] = useState<Values>(() => ({ ...newValues(kind), host_id: host }))
  const own = useOwnChannels()
  // The only host there is need not be chosen.
  const only = host ?? (hosts?.length === 1 ? hosts[0]!.id : null)
  const formValues = needsHost(kind) && !values.host_id ? { ...values, host_id: only } : values
  const make = useMutation({
    mutationFn: async () => {
      const body = { ...bodyOf(kind, formValues), type: kind } as Body
      const monitor = await ok(api.POST('/monitor', { body }))
      await own.save(monitor.id, t.ruleName(monitor.name)).catch(showError)
      return monitor
    },
    onSuccess: (monitor) => {
      showSuccess(t.created(monitor.name))
      void client.invalidateQueries({ queryKey: ['monitor'] })
      go(`/monitors/${monitor.id}${kind === 'push' ? '/settings' : ''}`)
    },
  })
  return (
    <Stack gap="md">
      <Group gap={10}>
        <Title order={2} size="h5">
          {t.kind(kinds[kind]!)}
        </Title>
        <AppLink to="/monitors/new" search={{ host }}>
          {t.otherKind}
        </AppLink>
      </Group>
      <Text size="sm" c="dimmed">
        {kindHelp[kind]} {kind === 'push' ? t.push : null}
      </Text>
      <MonitorForm
        kind={kind}
        values={formValues}
        errors={byField(make.error)}
        own={own}
        onChange={setValues}
        onSubmit={() => make.mutate()}
      >
        <FormActions isNew busy={make.isPending} cancelTo="/monitors">
          {needsHost(kind) ? <CheckNow kind={kind} values={formValues} /> : null}
        </FormActions>
      </MonitorForm>
      <FormError error={make.error} />
    </Stack>
  )
}

type Body = Shape<'MonitorBody'>

export function EditMonitorPage() {
  const { id } = monitorSettingsRoute.useParams()
  return (
    <IfAllowed action="monitor.edit">
      <MonitorLayout id={id} tab="settings">
        {(monitor) => (
          <Stack gap="md">
            {monitor.type === 'push' ? <PushUrl monitor={monitor} /> : null}
            <Edit monitor={monitor} key={monitor.id} />
          </Stack>
        )}
      </MonitorLayout>
    </IfAllowed>
  )
}

function Edit({ monitor }: { monitor: Monitor }) {
  const t = useKindText()
  const w = useWords()
  const own = useOwnChannels(monitor.id)
  const client = useQueryClient()
  const heldVersion = useHeldVersion(monitor, valuesOf)
  const { base, values } = heldVersion
  const again = () => void client.invalidateQueries({ queryKey: ['monitor'] })
  const save = useMutation({
    mutationFn: async () => {
      const saved = await ok(
        api.PATCH('/monitor/{id}', {
          params: { path: { id: monitor.id } },
          body: bodyOf(monitor.type, values) as Body,
          headers: { 'If-Match': String(base.version) },
        }),
      )
      await own.save(saved.id, t.ruleName(saved.name))
      return saved
    },
    onSuccess: (saved) => {
      showSuccess(w.saved)
      client.setQueryData(monitorQuery(monitor.id).queryKey, saved)
      heldVersion.rebase(saved, false)
      again()
    },
    onError: (fault) => isStale(fault) && reportSaveError(fault, again),
  })
  return (
    <div className="mon-form">
      <FieldsConflict object="monitor" heldVersion={heldVersion} fieldsOf={valuesOf} save={save} />
      <MonitorForm
        kind={monitor.type}
        values={values}
        errors={byField(save.error)}
        own={own}
        onChange={heldVersion.set}
        onSubmit={() => save.mutate()}
        self={monitor.id}
      >
        <FormActions busy={save.isPending} cancelTo={`/monitors/${monitor.id}`}>
          {monitor.type !== 'host' ? <Delete monitor={monitor} /> : null}
        </FormActions>
      </MonitorForm>
      {isStale(save.error) ? null : <FormError error={save.error} />}
    </div>
  )
}

function Delete({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const w = useWords()
  const go = useAppNavigate()
  const runAction = useMonitorActions()
  const remove = async () => {
    if (!(await runAction('delete', [monitor.id]))) return
    showSuccess(t.deleted(monitor.name))
    go('/monitors')
  }
  return (
    <DeleteButton name={monitor.name} onDelete={remove}>
      {t.deleteBody} {w.cannotUndo}
    </DeleteButton>
  )
}
