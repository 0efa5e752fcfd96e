import { Button, Group, Paper, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { FileText, Plus, Search } from 'lucide-react'
import { useRef } from 'react'
import { type Script, scriptsQuery } from '../../api/queries/automation/script'
import { useKeys } from '../../app/keys'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { bytes } from '../../lib/format'
import { AppLink, useAppNavigate } from '../../ui/AppLink'
import { EmptyState } from '../../ui/layout/EmptyState'
import { QueryResult } from '../../ui/layout/QueryResult'
import { useRowKeys } from '../../ui/list/rowKeys'
import { Ago } from '../../ui/state/Time'
import './scripts.css'
import { useText } from './text'
import { UploadButton } from './UploadButton'

const scriptsRoute = getRouteApi('/$customer/scripts')

export function ScriptsPage() {
  const t = useText()
  usePageTitle(t.list)
  const can = useCan()
  const go = useAppNavigate()
  const query = useQuery({ ...scriptsQuery, enabled: can('script.read') })
  const { q = '' } = scriptsRoute.useSearch()
  useRowKeys()
  useKeys(can('script.edit') ? { c: () => go('/scripts/new') } : {})
  if (!can('script.read')) return <EmptyState icon={FileText} title={t.managersOnly} />
  return (
    <Paper withBorder>
      <Head count={query.data?.length} q={q} />
      <QueryResult query={query}>{(files) => <List files={files} q={q} />}</QueryResult>
    </Paper>
  )
}

function Head({ count, q }: { count: number | undefined; q: string }) {
  const t = useText()
  const field = useRef<HTMLInputElement>(null)
  const navigate = scriptsRoute.useNavigate()
  const mayEdit = useCan()('script.edit')
  useKeys({ '/': () => field.current?.focus() })
  return (
    <Group className="head" gap={8}>
      <TextInput
        ref={field}
        size="xs"
        w={220}
        aria-label={t.find}
        placeholder={t.find}
        leftSection={<Search size={14} />}
        value={q}
        onChange={(event) =>
          void navigate({ search: { q: event.currentTarget.value || undefined }, replace: true })
        }
      />
      <Text size="xs" c="dimmed">
        {count === undefined ? '' : t.count(count)}
      </Text>
      {mayEdit ? <Making /> : null}
    </Group>
  )
}

function Making() {
  const t = useText()
  const go = useAppNavigate()
  return (
    <Group gap={8} wrap="nowrap" ml="auto">
      <UploadButton
        word={t.upload}
        successText={t.uploaded}
        onStored={(script) => go(`/scripts/${script.id}`)}
      />
      <Button component={AppLink} to="/scripts/new" leftSection={<Plus size={14} />}>
        {t.newScript}
      </Button>
    </Group>
  )
}

function List({ files, q }: { files: Script[]; q: string }) {
  const t = useText()
  const text = q.toLowerCase()
  const visible = files.filter((file) =>
    `${file.filename} ${file.description} ${file.tags.join(' ')}`.toLowerCase().includes(text),
  )
  if (visible.length === 0)
    return (
      <EmptyState icon={FileText} title={files.length ? t.noMatches : t.first}>
        {files.length ? null : t.firstBody}
      </EmptyState>
    )
  return (
    <ul className="scripts-list" aria-label={t.list}>
      {visible.map((file) => (
        <li key={file.id}>
          <AppLink to={`/scripts/${file.id}`} className="row scripts-row" data-row>
            <FileText size={16} strokeWidth={1.6} aria-hidden="true" />
            <span style={{ minWidth: 0 }}>
              <Text size="sm" fw={600} className="clip">
                {file.filename}
              </Text>
              {file.description ? (
                <Text size="xs" c="dimmed" className="clip">
                  {file.description}
                </Text>
              ) : null}
            </span>
            <Text size="xs" c="dimmed" span className="hide-sm">
              {t.version(file.version)}
            </Text>
            <Text size="xs" c="dimmed" span className="num hide-sm">
              {bytes(file.size)}
            </Text>
            <Text size="xs" c="dimmed" span ta="right">
              <Ago at={file.last_update} />
            </Text>
          </AppLink>
        </li>
      ))}
    </ul>
  )
}
