import { Anchor, Group, Radio, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { address } from '../../api/client'
import { contentQuery, versionsQuery } from '../../api/queries/automation/script'
import { bytes } from '../../lib/format'
import { QueryResult } from '../layout/QueryResult'
import { Ago } from '../state/Time'
import { DiffView } from './DiffView'
import { useText } from './text'

/** The versions of a file; one is chosen, and what it changed is shown. */
export function Versions({ id }: { id: string }) {
  const query = useQuery(versionsQuery(id))
  return (
    <QueryResult query={query} lines={3}>
      {(versions) => <Choose id={id} versions={versions} />}
    </QueryResult>
  )
}

interface Version {
  version: number
  size: number
  creation_date: string
  created_by: string
}

function Choose({ id, versions }: { id: string; versions: Version[] }) {
  const t = useText()
  const [chosen, setChosen] = useState<number | null>(null)
  const at = versions.findIndex((entry) => entry.version === chosen)
  const here = versions[Math.max(at, 0)]
  const before = versions[Math.max(at, 0) + 1]
  if (!here) return null
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
      {before ? (
        <Compared id={id} before={before.version} after={here.version} />
      ) : (
        <Text size="sm" c="dimmed">
          {t.firstVersion}
        </Text>
      )}
    </Stack>
  )
}

function Compared({ id, before, after }: { id: string; before: number; after: number }) {
  const t = useText()
  const old = useQuery(contentQuery(id, before))
  const now = useQuery(contentQuery(id, after))
  return (
    <QueryResult query={old} lines={3}>
      {(a) => (
        <QueryResult query={now} lines={3}>
          {(b) =>
            a.isText && b.isText ? (
              <DiffView before={a.text} after={b.text} label={t.changedIn(after)} />
            ) : (
              <Text size="sm">{t.noText}</Text>
            )
          }
        </QueryResult>
      )}
    </QueryResult>
  )
}
