import { Badge, Button, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { doctorQuery } from '../../api/queries/doctor'
import { dateTime } from '../../lib/format'
import { QueryResult } from '../../ui/layout/QueryResult'
import { Section } from '../../ui/layout/Section'
import { useText } from './text'

const LOOKS = { ok: 'badge-ok', notice: 'badge-warn', problem: 'badge-fail' } as const
const ORDER = ['problem', 'notice', 'ok'] as const

/** The findings of `belvedere doctor` with advice; problems first. */
export function InstallationChecks() {
  const t = useText()
  const report = useQuery(doctorQuery)
  return (
    <Section
      title={t.checks}
      padded
      right={
        <Button size="compact-sm" variant="default" onClick={() => report.refetch()}>
          {t.checkAgain}
        </Button>
      }
    >
      <QueryResult query={report}>
        {({ time, complete, findings }) => (
          <Stack gap="xs">
            <Text size="sm" c="dimmed">
              {t.checkedAt(dateTime(time))} {complete ? t.moreChecks : t.fewerChecks}
            </Text>
            <Table>
              <Table.Tbody>
                {ORDER.flatMap((verdict) =>
                  findings
                    .filter((finding) => finding.verdict === verdict)
                    .map(({ check, found: text, advice }) => (
                      <Table.Tr key={`${check} ${text}`}>
                        <Table.Td w={110}>
                          <Badge className={LOOKS[verdict]}>{t.verdicts[verdict]}</Badge>
                        </Table.Td>
                        <Table.Td w={130}>{check}</Table.Td>
                        <Table.Td className="settings-wrap">
                          {text}
                          {advice ? (
                            <Text size="sm" fw={600}>
                              {advice}
                            </Text>
                          ) : null}
                        </Table.Td>
                      </Table.Tr>
                    )),
                )}
              </Table.Tbody>
            </Table>
          </Stack>
        )}
      </QueryResult>
    </Section>
  )
}
