import { Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Activity, FilterX } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { anyHostQuery } from '../../../api/queries/monitoring/host'
import type { MonitorFilter } from '../../../api/queries/monitoring/monitor'
import { useCan } from '../../../app/session'
import { AppLink, useAppNavigate } from '../../../ui/AppLink'
import { Form } from '../../../ui/form/Form'
import { InstallLine } from '../../../ui/hosts/InstallLine'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { NotifiedBy } from '../../../ui/notify/NotifiedBy'
import { useText } from '../text'
import { useMonitorFilter } from './MonitorFilters'

export function NoMonitorMatches({ filter }: { filter: MonitorFilter }) {
  const t = useText()
  const set = useMonitorFilter()
  const clear = () => set(Object.fromEntries(Object.keys(filter).map((name) => [name, undefined])))
  return (
    <EmptyState icon={FilterX} title={filter.state === 'problems' ? t.noTrouble : t.none}>
      <p>{t.noneBody}</p>
      <Button variant="default" onClick={clear}>
        {t.clearFilter}
      </Button>
    </EmptyState>
  )
}

/** No monitor yet: one field makes the first. */
export function EmptyMonitors() {
  const t = useText()
  const may = useCan()('monitor.edit')
  const { data: host } = useQuery(anyHostQuery)
  if (!may)
    return (
      <Paper withBorder>
        <EmptyState icon={Activity} title={t.none}>
          {t.noneForViewer}
        </EmptyState>
      </Paper>
    )
  return (
    <Paper withBorder>
      <EmptyState icon={Activity} title={t.first}>
        <p>{t.firstBody}</p>
        <NotifiedBy failure={{ kind: 'monitor.failure', objectIds: [], tags: [] }} />
        {host === null ? (
          <>
            <p>{t.noHost}</p>
            <InstallLine />
          </>
        ) : host ? (
          <PageForm host={host} />
        ) : null}
      </EmptyState>
    </Paper>
  )
}

function PageForm({ host }: { host: { id: string; hostname: string } }) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const [url, setUrl] = useState('https://')
  const make = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/monitor', {
          body: { name: nameOf(url), type: 'scraper', host_id: host.id, url },
        }),
      ),
    onSuccess: (monitor) => {
      void client.invalidateQueries({ queryKey: ['monitor'] })
      go(`/monitors/${monitor.id}`)
    },
  })
  return (
    <Form onSubmit={() => make.mutate()}>
      <Stack gap={8} ta="left">
        <Group gap={8} align="flex-end" wrap="nowrap">
          <TextInput
            flex={1}
            type="url"
            required
            label={t.url}
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            error={make.error ? (byField(make.error).url ?? make.error.message) : undefined}
          />
          <Button type="submit" loading={make.isPending}>
            {t.watch}
          </Button>
        </Group>
        <Text size="xs" c="dimmed">
          {t.checkedBy(host.hostname)}
        </Text>
        <AppLink to="/monitors/new">{t.other}</AppLink>
      </Stack>
    </Form>
  )
}

/** The site's name is a good first name of its monitor. */
export function nameOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return host + (pathname === '/' ? '' : pathname)
  } catch {
    return url
  }
}
