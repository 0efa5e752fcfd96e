import { Alert, Anchor, Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pause, Play, Save, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { type Schedule, scheduleQuery } from '../../../api/queries/automation/schedule'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { dateTime } from '../../../lib/format'
import { AppLink, useAppNavigate } from '../../../ui/AppLink'
import { reportSaveError } from '../../../ui/editConflict/EditConflict'
import { FieldsConflict } from '../../../ui/editConflict/FieldsConflict'
import { useHeldVersion } from '../../../ui/editConflict/heldVersion'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { UnsavedChanges } from '../../../ui/form/UnsavedChanges'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { useWords } from '../../../ui/text'
import { showError, showSuccess } from '../../../ui/toast'
import { bodyOf, type Draft, draftOf } from '../form/scheduleDraft'
import { PauseDialog } from './PauseDialog'
import { ScheduleRuns } from './ScheduleRuns'
import '../schedules.css'
import { TargetFields } from '../form/TargetFields'
import { TimeFields } from '../form/TimeFields'
import { homeOf, useTargetOf } from '../scheduleTarget'
import { useText } from '../text'

const scheduleRoute = getRouteApi('/$customer/schedules/$id')

export function SchedulePage() {
  const t = useText()
  const { id } = scheduleRoute.useParams()
  const query = useQuery(scheduleQuery(id))
  usePageTitle(query.data?.name || t.list, t.list)
  return (
    <QueryResult query={query}>{(data) => <Inside key={data.id} schedule={data} />}</QueryResult>
  )
}

function change(schedule: Schedule, draft: Draft): Promise<Schedule> {
  const request = {
    params: { path: { id: schedule.id } },
    headers: { 'if-match': String(schedule.version) },
    body: bodyOf(draft, draftOf(schedule)),
  }
  return ok<Schedule>(api.PATCH('/schedule/{id}', request as never))
}

function Inside({ schedule }: { schedule: Schedule }) {
  const t = useText()
  const client = useQueryClient()
  const mayEdit = useCan()('schedule.edit')
  const target = useTargetOf(schedule) ?? null
  const heldVersion = useHeldVersion(schedule, draftOf)
  const { values: draft, isDirty } = heldVersion
  const again = () => void client.invalidateQueries({ queryKey: ['schedule'] })
  const save = useMutation({
    mutationFn: () => change(heldVersion.base, draft),
    onSuccess: (saved) => {
      client.setQueryData(scheduleQuery(schedule.id).queryKey, saved)
      heldVersion.rebase(saved, false)
      again()
      showSuccess(t.saved)
    },
    onError: (fault) => Object.keys(byField(fault)).length === 0 && reportSaveError(fault, again),
  })
  const submit = () => mayEdit && isDirty && !save.isPending && save.mutate()
  useKeys({ 'mod+s': submit })
  const part = {
    draft,
    set: heldVersion.set,
    errors: byField(save.error),
    readOnly: !mayEdit,
  }
  return (
    <>
      <div className="sched-bar">
        <Title order={2} size="h4" className="clip">
          {schedule.name || target?.name || t.gone}
        </Title>
        {schedule.enable ? null : <Badge>{t.off}</Badge>}
        {target ? (
          <Anchor component={AppLink} to={homeOf(target)} size="sm">
            {target.name}
          </Anchor>
        ) : null}
        <Group ml="auto" gap={8}>
          {mayEdit ? <ScheduleActions schedule={schedule} /> : null}
          {mayEdit ? (
            <Button
              leftSection={<Save size={14} />}
              disabled={!isDirty}
              loading={save.isPending}
              onClick={submit}
            >
              {t.save}
            </Button>
          ) : null}
        </Group>
      </div>
      <FieldsConflict object="schedule" heldVersion={heldVersion} fieldsOf={draftOf} save={save} />
      <Paused schedule={schedule} />
      <div className="sched-split">
        <Section title={t.when} padded>
          <TimeFields {...part} />
        </Section>
        <Stack gap={12}>
          <Section title={t.what} padded>
            <TargetFields {...part} target={target} onTarget={null} />
          </Section>
        </Stack>
      </div>
      <ScheduleRuns id={schedule.id} />
      <UnsavedChanges when={isDirty && mayEdit && !save.isPending} />
    </>
  )
}

function Paused({ schedule }: { schedule: Schedule }) {
  const t = useText()
  const { pause } = schedule
  if (!pause) return null
  const end = pause.until ? t.untilWhen(dateTime(pause.until)) : t.untilResumed
  return (
    <Alert color="gray" mb="sm" icon={<Pause size={16} />}>
      <Text size="sm">
        {t.pausedNow(dateTime(pause.since))}, {end}. {pause.note}
      </Text>
    </Alert>
  )
}

function ScheduleActions({ schedule }: { schedule: Schedule }) {
  const t = useText()
  const w = useWords()
  const go = useAppNavigate()
  const client = useQueryClient()
  const [asking, setAsking] = useState<'pause' | 'delete' | null>(null)
  const params = { path: { id: schedule.id } }
  const again = () => void client.invalidateQueries({ queryKey: ['schedule'] })
  const resume = useMutation({
    mutationFn: () => ok(api.PUT('/schedule/{id}/resume', { params } as never)),
    onSuccess: again,
    onError: showError,
  })
  const remove = useMutation({
    mutationFn: () => ok(api.DELETE('/schedule/{id}', { params })),
    onSuccess: () => {
      showSuccess(t.deleted)
      go('/schedules')
      again()
    },
    onError: showError,
  })
  return (
    <>
      {schedule.pause ? (
        <Button
          variant="default"
          leftSection={<Play size={14} />}
          loading={resume.isPending}
          onClick={() => resume.mutate()}
        >
          {t.resume}
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<Pause size={14} />}
          onClick={() => setAsking('pause')}
        >
          {t.pause}
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<Trash2 size={14} />}
        onClick={() => setAsking('delete')}
      >
        {t.delete}
      </Button>
      {asking === 'pause' ? (
        <PauseDialog id={schedule.id} onClose={() => setAsking(null)} onDone={again} />
      ) : null}
      <ConfirmDialog
        opened={asking === 'delete'}
        title={w.reallyDelete(schedule.name || t.list)}
        action={t.delete}
        busy={remove.isPending}
        onClose={() => setAsking(null)}
        onConfirm={() => remove.mutate()}
      >
        {t.deleteBody}
      </ConfirmDialog>
    </>
  )
}
