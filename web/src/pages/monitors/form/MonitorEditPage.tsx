import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { byField, isStale } from '../../../api/errors'
import { hostNamesQuery } from '../../../api/queries/monitoring/host'
import { type Monitor, monitorQuery } from '../../../api/queries/monitoring/monitor'
import { usePageTitle } from '../../../app/title'
import { Go, useGo } from '../../../ui/AppLink'
import { tellFailed } from '../../../ui/editConflict/EditConflict'
import { FieldsMeanwhile } from '../../../ui/editConflict/FieldsConflict'
import { useHeld } from '../../../ui/editConflict/heldVersion'
import { DeleteButton, Refusal } from '../../../ui/form/EditForm'
import { Only } from '../../../ui/IfAllowed'
import { useWatchWords } from '../../../ui/monitoring/text'
import { useWords } from '../../../ui/text'
import { done } from '../../../ui/toast'
import { useMonitorActs } from '../actions'
import { Frame } from '../detail/MonitorLayout'
import { useText } from '../text'
import { bodyOf, freshValues, MAKEABLE, needsHost, type Values, valuesOf } from './kinds'
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
    <Only act="monitor.edit">
      {kind && MAKEABLE.includes(kind) ? <Make kind={kind} key={kind} /> : <Choose />}
    </Only>
  )
}

function Choose() {
  const t = useKindText()
  const kinds = useWatchWords().kinds
  const { host } = newMonitorRoute.useSearch()
  return (
    <Stack gap="md">
      <Title order={2} size="h5">
        {t.choose}
      </Title>
      <div className="mon-kinds">
        {MAKEABLE.map((kind) => (
          <Go key={kind} to="/monitors/new" search={{ kind, host }} className="mon-kind">
            <Text fw={600} size="sm">
              {kinds[kind]}
            </Text>
            <Text size="xs" c="dimmed">
              {t.about[kind]}
            </Text>
          </Go>
        ))}
      </div>
    </Stack>
  )
}

function Make({ kind }: { kind: string }) {
  const t = useKindText()
  const w = useWords()
  const go = useGo()
  const client = useQueryClient()
  const kinds = useWatchWords().kinds
  const { host } = newMonitorRoute.useSearch()
  const { data: hosts } = useQuery(hostNamesQuery)
  const [values, setValues] = useState<Values>(() => ({ ...freshValues(kind), host_id: host }))
  // The only host there is need not be chosen.
  const only = host ?? (hosts?.length === 1 ? hosts[0]!.id : null)
  const shown = needsHost(kind) && !values.host_id ? { ...values, host_id: only } : values
  const make = useMutation({
    mutationFn: () =>
      ok(api.POST('/monitor', { body: { ...bodyOf(kind, shown), type: kind } as Body })),
    onSuccess: (made) => {
      done(t.made(made.name))
      void client.invalidateQueries({ queryKey: ['monitor'] })
      go(`/monitors/${made.id}${kind === 'push' ? '/settings' : ''}`)
    },
  })
  return (
    <Stack gap="md">
      <Group gap={10}>
        <Title order={2} size="h5">
          {t.kind(kinds[kind]!)}
        </Title>
        <Go to="/monitors/new" search={{ host }}>
          {t.otherKind}
        </Go>
      </Group>
      <Text size="sm" c="dimmed">
        {t.about[kind]} {kind === 'push' ? t.push : null}
      </Text>
      <MonitorForm
        kind={kind}
        values={shown}
        errors={byField(make.error)}
        onChange={setValues}
        onSubmit={() => make.mutate()}
      >
        <Button type="submit" loading={make.isPending}>
          {t.make}
        </Button>
        <Button component={Go} to="/monitors" variant="default">
          {w.cancel}
        </Button>
      </MonitorForm>
      <Refusal error={make.error} />
    </Stack>
  )
}

type Body = Shape<'MonitorBody'>

export function EditMonitorPage() {
  const { id } = monitorSettingsRoute.useParams()
  return (
    <Only act="monitor.edit">
      <Frame id={id} tab="settings">
        {(monitor) => (
          <Stack gap="md">
            {monitor.type === 'push' ? <PushUrl monitor={monitor} /> : null}
            <Edit monitor={monitor} key={monitor.id} />
          </Stack>
        )}
      </Frame>
    </Only>
  )
}

function Edit({ monitor }: { monitor: Monitor }) {
  const w = useWords()
  const client = useQueryClient()
  const held = useHeld(monitor, valuesOf)
  const { base, values } = held
  const again = () => void client.invalidateQueries({ queryKey: ['monitor'] })
  const save = useMutation({
    mutationFn: () =>
      ok(
        api.PATCH('/monitor/{id}', {
          params: { path: { id: monitor.id } },
          body: bodyOf(monitor.type, values) as Body,
          headers: { 'If-Match': String(base.version) },
        }),
      ),
    onSuccess: (saved) => {
      done(w.saved)
      client.setQueryData(monitorQuery(monitor.id).queryKey, saved)
      held.rebase(saved, false)
      again()
    },
    onError: (fault) => isStale(fault) && tellFailed(fault, again),
  })
  return (
    <div className="mon-form">
      <FieldsMeanwhile object="monitor" held={held} fieldsOf={valuesOf} save={save} />
      <MonitorForm
        kind={monitor.type}
        values={values}
        errors={byField(save.error)}
        onChange={held.set}
        onSubmit={() => save.mutate()}
        self={monitor.id}
      >
        <Button type="submit" loading={save.isPending}>
          {w.save}
        </Button>
        {monitor.type !== 'host' ? <Delete monitor={monitor} /> : null}
      </MonitorForm>
      {isStale(save.error) ? null : <Refusal error={save.error} />}
    </div>
  )
}

function Delete({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const w = useWords()
  const go = useGo()
  const act = useMonitorActs()
  const remove = async () => {
    if (!(await act('delete', [monitor.id]))) return
    done(t.deleted(monitor.name))
    go('/monitors')
  }
  return (
    <DeleteButton name={monitor.name} onDelete={remove}>
      {t.deleteBody} {w.cannotUndo}
    </DeleteButton>
  )
}
