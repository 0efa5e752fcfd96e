import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import type { Schedule } from '../../../api/queries/automation/schedule'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { prefs } from '../../../lib/prefs'
import { useAppNavigate } from '../../../ui/AppLink'
import { EditForm } from '../../../ui/form/EditForm'
import { FormActions } from '../../../ui/formPage/FormActions'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { Section } from '../../../ui/layout/Section'
import type { Target } from '../../../ui/run/target'
import { keyOf, useTargets } from '../../../ui/run/targetList'
import { showError, showSuccess } from '../../../ui/toast'
import { bodyOf, type Draft, firstDraft } from './scheduleDraft'
import '../schedules.css'
import { useText } from '../text'
import { TargetFields } from './TargetFields'
import { TimeFields } from './TimeFields'

const newScheduleRoute = getRouteApi('/$customer/schedules/new')

export function NewSchedulePage() {
  const t = useText()
  usePageTitle(t.newSchedule)
  const mayEdit = useCan()('schedule.edit')
  return mayEdit ? <NewScheduleForm /> : <EmptyState title={t.adminsEdit} />
}

function create({ kind, id }: Target, draft: Draft): Promise<Schedule> {
  const request = { params: { path: { id } }, body: bodyOf(draft) }
  return kind === 'task'
    ? ok<Schedule>(api.POST('/task/{id}/schedule', request))
    : ok<Schedule>(api.POST('/workflows/{id}/schedule', request))
}

function useTarget(): [Target | null, (target: Target) => void] {
  const { task, workflow } = newScheduleRoute.useSearch()
  const targets = useTargets()
  const [chosen, setChosen] = useState<Target | null>(null)
  const key = task ? `task ${task}` : workflow ? `workflow ${workflow}` : ''
  return [chosen ?? targets.find((target) => keyOf(target) === key) ?? null, setChosen]
}

function NewScheduleForm() {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const [target, setTarget] = useTarget()
  const [draft, setDraft] = useState(() =>
    firstDraft(prefs().zone || Intl.DateTimeFormat().resolvedOptions().timeZone),
  )
  const set = (change: Partial<Draft>) => setDraft((now) => ({ ...now, ...change }))
  const save = useMutation({
    mutationFn: (to: Target) => create(to, draft),
    onSuccess: (schedule) => {
      void client.invalidateQueries({ queryKey: ['schedule'] })
      void client.invalidateQueries({ queryKey: ['task'] })
      showSuccess(t.created)
      go(`/schedules/${schedule.id}`)
    },
    onError: (fault) => Object.keys(byField(fault)).length === 0 && showError(fault),
  })
  const errors = byField(save.error)
  const submit = () => {
    if (target && !save.isPending) save.mutate(target)
  }
  const part = { draft, set, errors, readOnly: false }
  return (
    <EditForm onSubmit={submit}>
      <div className="sched-split">
        <Section title={t.target} padded>
          <TargetFields
            {...part}
            target={target}
            onTarget={(next) => {
              setTarget(next)
              set({ values: null })
            }}
          />
        </Section>
        <Section title={t.when} padded>
          <TimeFields {...part} />
        </Section>
      </div>
      <FormActions isNew busy={save.isPending} disabled={!target} cancelTo="/schedules" />
    </EditForm>
  )
}
