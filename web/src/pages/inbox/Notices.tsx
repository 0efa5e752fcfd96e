import { ActionIcon, Badge, Button, SegmentedControl, Text, Tooltip } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Info, Mail, MailOpen } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../api/client'
import { type Notice, noticesQuery } from '../../api/queries/inbox'
import { AppLink } from '../../ui/AppLink'
import { QueryResult } from '../../ui/layout/QueryResult'
import { Section } from '../../ui/layout/Section'
import { LoadMore } from '../../ui/list/LoadMore'
import { severityText } from '../../ui/monitoring/severityText'
import { StateIcon } from '../../ui/state/StateIcon'
import { Ago } from '../../ui/state/Time'
import { showError } from '../../ui/toast'
import { detailOf } from './detail'
import { groupNotices } from './groupNotices'
import { noticeLook } from './noticeLook'
import { useInboxText } from './text'

/** Alerts of the organization that concern this person. */
export function Notices() {
  const t = useInboxText()
  const { all } = useSearch({ strict: false }) as { all?: boolean }
  const navigate = useNavigate()
  const client = useQueryClient()
  const query = useInfiniteQuery(noticesQuery(!all))
  const notices = query.data?.pages.flatMap((page) => page.rows) ?? []
  const again = () => {
    void client.invalidateQueries({ queryKey: ['notification'] })
    void client.invalidateQueries({ queryKey: ['counts'] })
  }
  const readAll = useMutation({
    mutationFn: () => ok(api.PUT('/notification/read')),
    onSuccess: again,
    onError: showError,
  })
  return (
    <Section
      title={t.notices}
      right={
        <>
          <SegmentedControl
            size="xs"
            aria-label={t.which}
            value={all ? 'all' : 'unread'}
            onChange={(word) =>
              void navigate({ to: '.', search: (word === 'all' ? { all: true } : {}) as never })
            }
            data={[
              { value: 'unread', label: t.unread },
              { value: 'all', label: t.all },
            ]}
          />
          <Button
            size="compact-xs"
            variant="default"
            disabled={!notices.some((notice) => !notice.read)}
            loading={readAll.isPending}
            onClick={() => readAll.mutate()}
          >
            {t.markAll}
          </Button>
        </>
      }
    >
      <QueryResult query={query} lines={4}>
        {() =>
          notices.length === 0 ? (
            <Text size="sm" c="dimmed" p="md">
              {all ? t.noNotices : t.noUnread}
            </Text>
          ) : (
            groupNotices(notices).map((group) => (
              <NoticeGroup key={group[0]!.id} notices={group} onChange={again} />
            ))
          )
        }
      </QueryResult>
      <LoadMore query={query} />
    </Section>
  )
}

/** Alerts about one object: the newest, and the earlier ones on request. */
function NoticeGroup({ notices, onChange }: { notices: Notice[]; onChange: () => void }) {
  const t = useInboxText()
  const [isOpen, setOpen] = useState(false)
  const [newest, ...earlier] = notices
  return (
    <div className="inbox-group" data-group={notices.length}>
      <Row notice={newest!} onChange={onChange} />
      {isOpen
        ? earlier.map((notice) => <Row key={notice.id} notice={notice} onChange={onChange} />)
        : null}
      {earlier.length ? (
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          className="inbox-earlier"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? t.hideEarlier : t.earlier(earlier.length)}
        </Button>
      ) : null}
    </div>
  )
}

const HOMES: Record<string, string> = {
  job: '/jobs',
  monitor: '/monitors',
  host: '/hosts',
  task: '/tasks',
  workflow: '/workflows',
  webhook: '/webhooks',
}

function homeOf(notice: Notice): string {
  if (notice.object === 'member' && notice.kind !== 'member.recovery_asked')
    return '/settings/security'
  const home = HOMES[notice.object]
  if (home && notice.object_id) return `${home}/${notice.object_id}`
  return notice.object === 'indicator' ? '/indicators' : '/inbox'
}

function NoticeIcon({ notice }: { notice: Notice }) {
  const look = noticeLook(notice)
  const t = useInboxText()
  if (look !== 'info') return <StateIcon look={look} title={severityText(notice.severity)} />
  return <Info size={16} className="inbox-info" role="img" aria-label={t.information} />
}

function Row({ notice, onChange }: { notice: Notice; onChange: () => void }) {
  const t = useInboxText()
  const mark = useMutation({
    mutationFn: (read: boolean) => {
      const params = { path: { id: notice.id } }
      return read
        ? ok(api.PUT('/notification/{id}/read', { params }))
        : ok(api.PUT('/notification/{id}/unread', { params }))
    },
    onSuccess: onChange,
    onError: showError,
  })
  const word = notice.read ? t.markUnread : t.markRead
  return (
    <div className="row inbox-notice" data-row data-unread={!notice.read}>
      <NoticeIcon notice={notice} />
      <span className="inbox-what">
        <AppLink
          to={homeOf(notice)}
          className="inbox-link"
          data-act="open"
          onClick={() => !notice.read && mark.mutate(true)}
        >
          {t.account[notice.kind] ?? notice.title}
        </AppLink>{' '}
        {notice.read ? null : (
          <Badge size="xs" className="badge-run">
            {t.isNew}
          </Badge>
        )}
        {notice.body ? (
          <Text size="xs" c="dimmed" className="clip" component="div" title={notice.body}>
            {detailOf(notice, t)}
          </Text>
        ) : null}
      </span>
      <Text size="xs" c="dimmed" className="inbox-when">
        <Ago at={notice.creation_date} />
      </Text>
      <Tooltip label={word}>
        <ActionIcon aria-label={word} onClick={() => mark.mutate(!notice.read)}>
          {notice.read ? <Mail size={14} /> : <MailOpen size={14} />}
        </ActionIcon>
      </Tooltip>
    </div>
  )
}
