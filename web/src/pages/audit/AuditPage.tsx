import { Button, Group, Stack, Table, Text, TextInput } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ChevronDown, ChevronRight, Download, History } from 'lucide-react'
import { useState } from 'react'
import { address, api, okWithTotal, type Shape, untypedQuery } from '../../api/client'
import { fullPage, nextAfter } from '../../api/fullPage'
import { useNavTitles } from '../../app/pages'
import { usePageTitle } from '../../app/title'
import { dateTime } from '../../lib/format'
import { AppLink } from '../../ui/AppLink'
import { ActionName } from '../../ui/history/ActionName'
import { objectText } from '../../ui/history/actionText'
import { EmptyState } from '../../ui/layout/EmptyState'
import { QueryResult } from '../../ui/layout/QueryResult'
import { Section } from '../../ui/layout/Section'
import { agentOf, objectName, objectPage } from './auditObject'
import { changedFields, type FieldChange } from './changes'
import type { AuditSearch } from './search'
import { useText } from './text'
import { useObjectNames } from './useObjectNames'
import './audit.css'

const auditRoute = getRouteApi('/$customer/audit')

type Row = Shape<'AuditRecord'>
const PAGE = 100

function useAudit(search: AuditSearch) {
  return useInfiniteQuery({
    queryKey: ['audit', search],
    queryFn: ({ pageParam, signal }) =>
      fullPage<Row>(PAGE, pageParam, (page) => {
        const query = untypedQuery({ ...auditQuery(search), ...page })
        return okWithTotal(api.GET('/api/audit', { params: { query }, signal })) as never
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => nextAfter(last, PAGE),
  })
}

/** Days of the reader's zone, as moments for the server. */
function auditQuery({ from, to, ...rest }: AuditSearch): Record<string, string> {
  return {
    ...rest,
    ...(from ? { from: new Date(`${from}T00:00`).toISOString() } : {}),
    ...(to ? { to: new Date(`${to}T23:59:59.999`).toISOString() } : {}),
  }
}

export function AuditPage() {
  const t = useText()
  const title = useNavTitles().audit
  usePageTitle(title)
  const search = auditRoute.useSearch()
  const navigate = auditRoute.useNavigate()
  const audit = useAudit(search)
  const names = useObjectNames(audit.data?.pages.flatMap((page) => page.rows) ?? [])
  const set = (name: keyof AuditSearch) => (event: React.ChangeEvent<HTMLInputElement>) => {
    const value = event.currentTarget.value || undefined
    void navigate({ search: (old) => ({ ...old, [name]: value }), replace: true })
  }
  return (
    <Section
      title={title}
      right={
        <Button
          component="a"
          variant="default"
          leftSection={<Download size={14} />}
          href={address('/api/audit.csv', auditQuery(search))}
          download
        >
          {t.csv}
        </Button>
      }
    >
      <Group p="sm" gap={8} className="audit-filters">
        <TextInput size="xs" label={t.who} value={search.user ?? ''} onChange={set('user')} />
        <TextInput
          size="xs"
          label={t.action}
          placeholder={t.actionHelp}
          value={search.action ?? ''}
          onChange={set('action')}
        />
        <TextInput
          size="xs"
          label={t.since}
          type="date"
          value={search.from ?? ''}
          onChange={set('from')}
        />
        <TextInput
          size="xs"
          label={t.until}
          type="date"
          value={search.to ?? ''}
          onChange={set('to')}
        />
      </Group>
      <QueryResult query={audit}>
        {({ pages }) =>
          audit.hasNextPage || pages.some((page) => page.rows.length) ? (
            <Stack gap={0}>
              {pages
                .flatMap((page) => page.rows)
                .map((row) => (
                  <AuditRow key={row.id} row={row} name={names.get(row.object_id)} />
                ))}
              {audit.hasNextPage ? (
                <Button
                  m="sm"
                  variant="default"
                  loading={audit.isFetchingNextPage}
                  onClick={() => audit.fetchNextPage()}
                >
                  {t.older}
                </Button>
              ) : null}
            </Stack>
          ) : (
            <EmptyState icon={History} title={t.empty}>
              {t.emptyBody}
            </EmptyState>
          )
        }
      </QueryResult>
    </Section>
  )
}

function AuditRow({ row, name }: { row: Row; name?: string }) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const Chevron = open ? ChevronDown : ChevronRight
  return (
    <>
      <button
        type="button"
        className="row audit-row"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Chevron size={14} aria-hidden="true" />
        <span className="clip num">{dateTime(row.date)}</span>
        <span className="clip audit-action">
          <ActionName code={row.action} />
        </span>
        <span className="clip">{row.user || (t.actors[row.kind] ?? row.kind)}</span>
        <span className="clip audit-object" title={agentOf(row) || undefined}>
          {objectText(row.object)} {objectName(row) || name || <code>{row.object_id}</code>}
        </span>
        <span className="clip hide-md">{row.address}</span>
      </button>
      {open ? <Details row={row} label={t.details} /> : null}
    </>
  )
}

function Details({ row, label }: { row: Row; label: string }) {
  const t = useText()
  const changes = changedFields(row.before, row.after)
  const page = objectPage(row)
  const which = `${objectText(row.object)} ${row.object_id}`
  return (
    <>
      <Text size="sm" c="dimmed" px="xl" py={8} component="div">
        {changes.length ? null : `${t.same} `}
        {page ? <AppLink to={page}>{which}</AppLink> : which} · {t.actors[row.kind] ?? row.kind} ·{' '}
        {row.address}
      </Text>
      {changes.length ? <Changes row={row} changes={changes} label={label} /> : null}
    </>
  )
}

function Changes({ row, changes, label }: { row: Row; changes: FieldChange[]; label: string }) {
  const t = useText()
  return (
    <Table className="audit-details" aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{objectText(row.object)}</Table.Th>
          <Table.Th>{t.before}</Table.Th>
          <Table.Th>{t.after}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {changes.map((change) => (
          <Table.Tr key={change.field}>
            <Table.Td>{change.field}</Table.Td>
            <Table.Td>
              {change.before === null ? (
                <Text c="dimmed">{t.noValue}</Text>
              ) : (
                <code>{change.before}</code>
              )}
            </Table.Td>
            <Table.Td>
              {change.after === null ? (
                <Text c="dimmed">{t.noValue}</Text>
              ) : (
                <code>{change.after}</code>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
