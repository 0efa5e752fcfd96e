import { Anchor, Button, Group, Stack, Table, Text } from '@mantine/core'
import { PauseCircle } from 'lucide-react'
import { useState } from 'react'
import { useHasLevel } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { dateTime } from '../../../lib/format'
import { AppLink } from '../../../ui/AppLink'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { Ago } from '../../../ui/state/Time'
import { useHeldText } from './heldText'
import { type HeldJob, useDecisions, useHeldJobs } from './useHeldJobs'

/** The jobs that may have run after the backup from which the database was restored. */
export function HeldJobsPage() {
  const t = useHeldText()
  usePageTitle(t.title)
  const isAdmin = useHasLevel('admin')
  return isAdmin ? <HeldJobs /> : <EmptyState icon={PauseCircle} title={t.adminsOnly} />
}

type Question = { action: 'release' | 'cancel'; job: HeldJob } | { action: 'all' }

function HeldJobs() {
  const t = useHeldText()
  const query = useHeldJobs()
  const [question, setQuestion] = useState<Question | null>(null)
  const total = query.data?.pages.at(-1)?.total ?? 0
  return (
    <Section
      title={t.title}
      aside={query.data ? t.count(total) : null}
      right={
        total ? (
          <Button variant="default" onClick={() => setQuestion({ action: 'all' })}>
            {t.releaseAll}
          </Button>
        ) : null
      }
    >
      <QueryResult query={query}>
        {({ pages }) =>
          total ? (
            <Stack gap="sm" p="md">
              <Text size="sm">
                {t.intro}{' '}
                {pages[0]?.restored_at ? t.restoredAt(dateTime(pages[0].restored_at)) : null}
              </Text>
              <Jobs jobs={pages.flatMap((page) => page.jobs)} onAsk={setQuestion} />
              {query.hasNextPage ? (
                <Button
                  variant="default"
                  loading={query.isFetchingNextPage}
                  onClick={() => query.fetchNextPage()}
                >
                  {t.more}
                </Button>
              ) : null}
            </Stack>
          ) : (
            <EmptyState icon={PauseCircle} title={t.empty}>
              {t.emptyBody}
            </EmptyState>
          )
        }
      </QueryResult>
      <Decision question={question} total={total} onClose={() => setQuestion(null)} />
    </Section>
  )
}

function Jobs({ jobs, onAsk }: { jobs: HeldJob[]; onAsk: (question: Question) => void }) {
  const t = useHeldText()
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table verticalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            {[t.job, t.host, t.created, t.mayHaveRun].map((label) => (
              <Table.Th key={label}>{label}</Table.Th>
            ))}
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {jobs.map((job) => (
            <HeldRow key={job.id} job={job} onAsk={onAsk} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function HeldRow({ job, onAsk }: { job: HeldJob; onAsk: (question: Question) => void }) {
  const t = useHeldText()
  const facts = [
    job.script_filename ? t.script(job.script_filename) : '',
    job.username ? t.startedBy(job.username) : '',
    job.attempts ? t.attempts(job.attempts) : '',
  ].filter(Boolean)
  return (
    <Table.Tr data-job={job.id}>
      <Table.Td>
        <Anchor component={AppLink} to={`/jobs/${job.id}`} size="sm">
          {job.name}
        </Anchor>
      </Table.Td>
      <Table.Td>
        {job.host_id ? (
          <Anchor component={AppLink} to={`/hosts/${job.host_id}`} size="sm">
            {job.hostname}
          </Anchor>
        ) : null}
      </Table.Td>
      <Table.Td>
        <Ago at={job.creation_date} />
      </Table.Td>
      <Table.Td>
        <Text size="sm">{t.evidence[job.evidence] ?? job.evidence}</Text>
        <Text size="xs" c="dimmed">
          {facts.join(' · ')}
        </Text>
      </Table.Td>
      <Table.Td>
        <Group gap={8} wrap="nowrap" justify="flex-end">
          <Button
            size="xs"
            variant="default"
            aria-label={t.releaseJob(job.name)}
            onClick={() => onAsk({ action: 'release', job })}
          >
            {t.release}
          </Button>
          <Button
            size="xs"
            variant="subtle"
            aria-label={t.cancelJob(job.name)}
            onClick={() => onAsk({ action: 'cancel', job })}
          >
            {t.cancel}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

function Decision({
  question,
  total,
  onClose,
}: {
  question: Question | null
  total: number
  onClose: () => void
}) {
  const t = useHeldText()
  const { release, cancel, all } = useDecisions(onClose)
  const job = question && question.action !== 'all' ? question.job : null
  return (
    <>
      <ConfirmDialog
        opened={question?.action === 'release'}
        title={t.releaseTitle(job?.name ?? '')}
        action={t.release}
        dismiss={t.keep}
        busy={release.isPending}
        onClose={onClose}
        onConfirm={() => release.mutate(job?.id ?? '')}
      >
        {t.releaseBody}
      </ConfirmDialog>
      <ConfirmDialog
        opened={question?.action === 'cancel'}
        title={t.cancelTitle(job?.name ?? '')}
        action={t.cancel}
        dismiss={t.keep}
        busy={cancel.isPending}
        onClose={onClose}
        onConfirm={() => cancel.mutate(job?.id ?? '')}
      >
        {t.cancelBody}
      </ConfirmDialog>
      <ConfirmDialog
        opened={question?.action === 'all'}
        title={t.releaseAllTitle(total)}
        word={t.releaseAllWord}
        action={t.releaseAll}
        busy={all.isPending}
        onClose={onClose}
        onConfirm={() => all.mutate()}
      >
        {t.releaseAllBody}
      </ConfirmDialog>
    </>
  )
}
