import { Badge, Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { doctorQuery } from '../../api/queries/doctor'
import { dateTime } from '../../lib/format'
import { QueryResult } from '../../ui/layout/QueryResult'
import { Section } from '../../ui/layout/Section'
import { CodeText } from './CodeText'
import { useText } from './text'
import './settings.css'

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
            <div role="list">
              {ORDER.flatMap((verdict) =>
                findings
                  .filter((finding) => finding.verdict === verdict)
                  .map(({ check, found: text, advice }) => (
                    <div role="listitem" className="settings-check" key={`${check} ${text}`}>
                      <Badge className={LOOKS[verdict]}>{t.verdicts[verdict]}</Badge>
                      <Text size="sm">{check}</Text>
                      <div className="settings-wrap">
                        <CodeText text={text} />
                        {advice ? <CodeText text={advice} strong /> : null}
                      </div>
                    </div>
                  )),
              )}
            </div>
          </Stack>
        )}
      </QueryResult>
    </Section>
  )
}
