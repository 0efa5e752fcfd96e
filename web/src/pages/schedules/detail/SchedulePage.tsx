import { Alert, Anchor, Badge, Button, Group, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pause, Play } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { type Schedule, scheduleQuery } from '../../../api/queries/automation/schedule'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { dateTime } from '../../../lib/format'
import { AppLink, useAppNavigate } from '../../../ui/AppLink'
import { reportSaveError } from '../../../ui/editConflict/EditConflict'
import { FieldsConflict } from '../../../ui/editConflict/FieldsConflict'
import { useHeldVersion } from '../../../ui/editConflict/heldVersion'
import { DeleteButton, EditForm } from '../../../ui/form/EditForm'
import { UnsavedChanges } from '../../../ui/form/UnsavedChanges'
import { FormActions } from '../../../ui/formPage/FormActions'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
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
  const submit = () => {
    if (mayEdit && isDirty && !save.isPending) save.mutate()
  }
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
          {schedule.name || target?.name || t.deletedTarget}
        </Title>
        {schedule.enable ? null : <Badge>{t.off}</Badge>}
        {target ? (
          <Anchor component={AppLink} to={homeOf(target)} size="sm">
            {target.name}
          </Anchor>
        ) : null}
        <Group ml="auto" gap={8}>
          {mayEdit ? <PauseButton schedule={schedule} /> : null}
        </Group>
      </div>
      <FieldsConflict object="schedule" heldVersion={heldVersion} fieldsOf={draftOf} save={save} />
      <PausedNote schedule={schedule} />
      <EditForm onSubmit={submit}>
        <div className="sched-split">
          <Section title={t.target} padded>
            <TargetFields {...part} target={target} onTarget={null} />
          </Section>
          <Section title={t.when} padded>
            <TimeFields {...part} />
          </Section>
        </div>
        {mayEdit ? (
          <FormActions busy={save.isPending} disabled={!isDirty} cancelTo="/schedules">
            <RemoveSchedule schedule={schedule} />
          </FormActions>
        ) : null}
      </EditForm>
      <ScheduleRuns id={schedule.id} />
      <UnsavedChanges when={isDirty && mayEdit && !save.isPending} />
    </>
  )
}

function PausedNote({ schedule }: { schedule: Schedule }) {
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

function PauseButton({ schedule }: { schedule: Schedule }) {
  const t = useText()
  const client = useQueryClient()
  const [isPausing, setPausing] = useState(false)
  const params = { path: { id: schedule.id } }
  const again = () => void client.invalidateQueries({ queryKey: ['schedule'] })
  const resume = useMutation({
    mutationFn: () => ok(api.PUT('/schedule/{id}/resume', { params } as never)),
    onSuccess: again,
    onError: showError,
  })
  if (schedule.pause)
    return (
      <Button
        variant="default"
        leftSection={<Play size={14} />}
        loading={resume.isPending}
        onClick={() => resume.mutate()}
      >
        {t.resume}
      </Button>
    )
  return (
    <>
      <Button variant="default" leftSection={<Pause size={14} />} onClick={() => setPausing(true)}>
        {t.pause}
      </Button>
      {isPausing ? (
        <PauseDialog id={schedule.id} onClose={() => setPausing(false)} onDone={again} />
      ) : null}
    </>
  )
}

function RemoveSchedule({ schedule }: { schedule: Schedule }) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const remove = async () => {
    await ok(api.DELETE('/schedule/{id}', { params: { path: { id: schedule.id } } }))
    showSuccess(t.deleted)
    go('/schedules')
    void client.invalidateQueries({ queryKey: ['schedule'] })
  }
  return (
    <DeleteButton name={schedule.name || t.list} onDelete={remove}>
      {t.deleteBody}
    </DeleteButton>
  )
}
