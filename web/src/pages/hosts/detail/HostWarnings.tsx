import { Anchor, Text } from '@mantine/core'
import type { HostWarning } from '../../../api/queries/monitoring/host'
import { useHasLevel } from '../../../app/session'
import { dateTime } from '../../../lib/format'
import { AppLink } from '../../../ui/AppLink'
import { Warning } from '../../../ui/layout/Warning'
import { useText } from '../text'

/** The state of the jobs that a warning asks to check. */
const JOBS_TO_CHECK: Record<string, string> = { jobs_held: 'waiting', journal_rolled_back: 'lost' }

export function HostWarnings({ hostId, warnings }: { hostId: string; warnings: HostWarning[] }) {
  const t = useText()
  const isAdmin = useHasLevel('admin')
  return warnings.map(({ code, since, jobs, message }) => (
    <Warning key={code} title={t.warnings[code]?.(jobs) ?? code}>
      {message ? <Text size="sm">{message}</Text> : null}
      <Text size="sm">
        {t.warningBodies[code]} {since ? `${t.warningSince} ${dateTime(since)}.` : null}
      </Text>
      {JOBS_TO_CHECK[code] ? (
        <Anchor
          component={AppLink}
          {...(code === 'jobs_held' && isAdmin
            ? { to: '/jobs/held' }
            : { to: '/jobs', search: { host: hostId, state: JOBS_TO_CHECK[code] } })}
          size="sm"
        >
          {t.warningLinks[code]}
        </Anchor>
      ) : null}
    </Warning>
  ))
}
