import { Button, Group, MultiSelect, Text } from '@mantine/core'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../../api/client'
import { membersQuery } from '../../../../api/queries/access'
import type { Job } from '../../../../api/queries/job'
import { useHasLevel } from '../../../../app/session'
import { QueryResult } from '../../../../ui/layout/QueryResult'
import { Section } from '../../../../ui/layout/Section'
import { showError, showSuccess } from '../../../../ui/toast'
import { useJobText } from '../../jobText'
import { Facts } from './Facts'

type People = Shape<'JobPeople'>
type Person = People['assignee'][number]

const peopleQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'people'],
    queryFn: () => ok(api.GET('/job/{id}/participants', { params: { path: { id } } })),
  })

/** Who started the job, to whom it is assigned, and who may see it. */
export function PeopleTab({ job }: { job: Job }) {
  const t = useJobText()
  const query = useQuery(peopleQuery(job.id))
  const isAdmin = useHasLevel('admin')
  return (
    <Section title={t.tabs.people}>
      <QueryResult query={query} lines={3}>
        {(people) => (
          <>
            <Facts
              facts={[
                { name: t.owner, value: people.owner ? nameOf(people.owner) : t.noPerson },
                { name: t.assignees, value: names(people.assignee) || t.noPerson },
                { name: t.observers, value: names(people.observers) || t.noPerson },
              ]}
            />
            {isAdmin ? <Assign job={job} people={people} /> : null}
          </>
        )}
      </QueryResult>
    </Section>
  )
}

function nameOf(person: Person): string {
  return person.email || person.username
}

function names(people: Person[]): string {
  return people.map(nameOf).join(', ')
}

function Assign({ job, people }: { job: Job; people: People }) {
  const t = useJobText()
  const client = useQueryClient()
  const members = useQuery(membersQuery).data ?? []
  const [chosen, setChosen] = useState(people.assignee.map((person) => person.email))
  const assign = useMutation({
    mutationFn: () =>
      ok(api.PUT('/job/{id}/assignee', { params: { path: { id: job.id } }, body: chosen })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['job', job.id] })
      showSuccess(t.assigned)
    },
    onError: showError,
  })
  return (
    <Group align="end" p="md" gap={8}>
      <MultiSelect
        label={t.assignTo}
        description={t.assignHint}
        searchable={true}
        data={members.map((member) => member.user.email)}
        value={chosen}
        onChange={setChosen}
        maxValues={100}
        flex={1}
      />
      <Button
        variant="default"
        disabled={chosen.length === 0}
        loading={assign.isPending}
        onClick={() => assign.mutate()}
      >
        {t.assign}
      </Button>
      {chosen.length === 0 ? (
        <Text size="xs" c="dimmed">
          {t.assignNobody}
        </Text>
      ) : null}
    </Group>
  )
}
