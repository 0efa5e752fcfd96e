import { Anchor, Button, Group, Radio, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { address } from '../../api/client'
import { contentQuery, versionsQuery } from '../../api/queries/automation/script'
import { bytes } from '../../lib/format'
import { QueryResult } from '../layout/QueryResult'
import { Ago } from '../state/Time'
import { showError } from '../toast'
import { DiffView } from './DiffView'
import { useText } from './text'

interface Props {
  id: string
  /** Saves an older version as the newest one; none: the reader may not. */
  onRestore?: (version: number) => Promise<unknown>
}

/** The versions of a file; the changes of the chosen one are shown. */
export function Versions({ id, onRestore }: Props) {
  const query = useQuery(versionsQuery(id))
  return (
    <QueryResult query={query} lines={3}>
      {(versions) => <Choose id={id} versions={versions} onRestore={onRestore} />}
    </QueryResult>
  )
}

interface Version {
  version: number
  size: number
  creation_date: string
  created_by: string
}

function Choose({ id, versions, onRestore }: Props & { versions: Version[] }) {
  const t = useText()
  const [chosen, setChosen] = useState<number | null>(null)
  const [toNewest, setToNewest] = useState(false)
  const at = versions.findIndex((entry) => entry.version === chosen)
  const here = versions[Math.max(at, 0)]
  const before = versions[Math.max(at, 0) + 1]
  const newest = versions[0]
  if (!here || !newest) return null
  const isOlder = here !== newest
  return (
    <Stack gap="sm">
      <Radio.Group
        aria-label={t.versions}
        value={String(here.version)}
        onChange={(next) => setChosen(Number(next))}
      >
        <Stack gap={4} mah={220} style={{ overflowY: 'auto' }}>
          {versions.map((entry, n) => (
            <Group key={entry.version} gap={8} wrap="nowrap">
              <Radio
                size="xs"
                styles={{ label: { whiteSpace: 'nowrap' } }}
                value={String(entry.version)}
                label={`${t.version(entry.version)}${n === 0 ? ` (${t.newest})` : ''}`}
              />
              <Text size="xs" c="dimmed" className="clip">
                <Ago at={entry.creation_date} /> · {entry.created_by} · {bytes(entry.size)}
              </Text>
              <Anchor
                size="xs"
                ml="auto"
                href={address(`/file/${id}/download`, { version: entry.version })}
                download
              >
                {t.download}
              </Anchor>
            </Group>
          ))}
        </Stack>
      </Radio.Group>
      {isOlder ? (
        <Group gap={12}>
          <Switch
            size="xs"
            label={t.toNewest}
            checked={toNewest}
            onChange={(event) => setToNewest(event.currentTarget.checked)}
          />
          {onRestore ? (
            <RestoreButton
              key={here.version}
              version={here.version}
              onRestore={async (version) => {
                await onRestore(version)
                setChosen(null)
              }}
            />
          ) : null}
        </Group>
      ) : null}
      {isOlder && toNewest ? (
        <VersionComparison
          id={id}
          before={here.version}
          after={newest.version}
          label={t.sinceVersion(here.version)}
        />
      ) : before ? (
        <VersionComparison
          id={id}
          before={before.version}
          after={here.version}
          label={t.changedIn(here.version)}
        />
      ) : (
        <Text size="sm" c="dimmed">
          {t.firstVersion}
        </Text>
      )}
    </Stack>
  )
}

interface RestoreProps {
  version: number
  onRestore: (version: number) => Promise<unknown>
}

function RestoreButton({ version, onRestore }: RestoreProps) {
  const t = useText()
  const restore = useMutation({ mutationFn: onRestore, onError: showError })
  return (
    <Button
      size="compact-sm"
      variant="default"
      ml="auto"
      leftSection={<RotateCcw size={14} />}
      loading={restore.isPending}
      onClick={() => restore.mutate(version)}
    >
      {t.restore(version)}
    </Button>
  )
}

interface ComparedProps {
  id: string
  before: number
  after: number
  label: string
}

function VersionComparison({ id, before, after, label }: ComparedProps) {
  const t = useText()
  const old = useQuery(contentQuery(id, before))
  const now = useQuery(contentQuery(id, after))
  return (
    <QueryResult query={old} lines={3}>
      {(a) => (
        <QueryResult query={now} lines={3}>
          {(b) =>
            a.isText && b.isText ? (
              <DiffView before={a.text} after={b.text} label={label} />
            ) : (
              <Text size="sm">{t.noText}</Text>
            )
          }
        </QueryResult>
      )}
    </QueryResult>
  )
}
