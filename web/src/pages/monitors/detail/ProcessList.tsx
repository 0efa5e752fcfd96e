import { Group, Paper, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, ok } from '../../../api/client'
import { useHasLevel } from '../../../app/session'
import { useText } from '../text'

const COLUMNS = ['user', 'pid', '%cpu', '%mem', 'command'] as const
const MAX_ROWS = 100

/** The processes that the last check listed. Command lines may hold secrets: only admins read them. */
export function ProcessList({ hostId, checkedAt }: { hostId: string; checkedAt: string | null }) {
  const t = useText()
  const isAdmin = useHasLevel('admin')
  const { data = [] } = useQuery({
    queryKey: ['host', hostId, 'processes', checkedAt],
    queryFn: () =>
      ok(
        api.GET('/host/{id}/stats', {
          params: { path: { id: hostId }, query: { type: 'psaux' } },
        }),
      ),
    enabled: isAdmin,
  })
  if (!isAdmin) return null
  const rows = rowsOf(data[0]?.stats)
  return (
    <Paper withBorder component="section" aria-label={t.processes}>
      <Group className="head">
        <Title order={2} size="h6">
          {t.processes}
        </Title>
      </Group>
      {rows.length ? (
        <Table.ScrollContainer minWidth={500}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                {t.processColumns.map((label) => (
                  <Table.Th key={label}>{label}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row, i) => (
                <Table.Tr key={`${row.pid} ${i}`}>
                  {COLUMNS.map((name) => (
                    <Table.Td key={name}>{String(row[name] ?? '')}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      ) : (
        <Text size="sm" c="dimmed" p="md">
          {t.noProcesses}
        </Text>
      )}
    </Paper>
  )
}

/** Agents of TheEye send any JSON. */
export function rowsOf(stats: unknown): Record<string, unknown>[] {
  if (!Array.isArray(stats)) return []
  return stats.filter((row) => row !== null && typeof row === 'object').slice(0, MAX_ROWS)
}
