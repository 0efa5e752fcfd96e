import { Button, SimpleGrid, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { type Shape, UI } from '../../api/client'
import { membersQuery } from '../../api/queries/access'
import { useKeys } from '../../app/keys'
import { useNavTitles } from '../../app/pages'
import { LEVELS } from '../../app/permissions'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { AppLink } from '../../ui/AppLink'
import { OneTimeLink } from '../../ui/account/OneTimeLink'
import { isLoopback } from '../../ui/hosts/installAddresses'
import { QueryResult } from '../../ui/layout/QueryResult'
import { Section } from '../../ui/layout/Section'
import { InviteDialog } from './InviteDialog'
import { MemberRow } from './MemberRow'
import { useText } from './text'
import './people.css'

export function PeoplePage() {
  usePageTitle(useNavTitles().people)
  const t = useText()
  const members = useQuery(membersQuery)
  const can = useCan()
  const mayEdit = can('member.edit')
  const [inviting, { open, close }] = useDisclosure()
  const [link, setLink] = useState<Shape<'LinkRecord'> | null>(null)
  useKeys(mayEdit ? { c: open } : {})
  return (
    <Stack gap="md">
      <Section
        title={t.members(members.data?.length ?? 0)}
        right={
          mayEdit ? (
            <Button leftSection={<UserPlus size={14} />} onClick={open}>
              {t.invite}
            </Button>
          ) : null
        }
      >
        <QueryResult query={members}>
          {(all) => (
            <div role="list">
              {all.map((member) => (
                <MemberRow key={member.id} member={member} onLink={setLink} />
              ))}
            </div>
          )}
        </QueryResult>
      </Section>
      <Section title={t.levels} padded>
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 5 }}>
          {LEVELS.map((level) => (
            <div key={level}>
              <Text size="sm" fw={600}>
                {level}
              </Text>
              <Text size="sm" c="dimmed">
                {t.may[level]}
              </Text>
            </div>
          ))}
        </SimpleGrid>
      </Section>
      <InviteDialog opened={inviting} onClose={close} onLink={setLink} />
      <OneTimeLink
        title={t.linkTitle}
        value={link && addressOf(link)}
        onClose={() => setLink(null)}
      >
        {t.linkBody}
        {isLoopback(location.origin) ? (
          <>
            {' '}
            <strong>{t.linkLocal}</strong>{' '}
            {can('host.edit') ? <AppLink to="/hosts/add">{t.linkLocalHow}</AppLink> : null}
          </>
        ) : null}
      </OneTimeLink>
    </Stack>
  )
}

/** At the address of this page: the server may not know its other addresses. */
function addressOf(link: Shape<'LinkRecord'>): string {
  return `${location.origin}${UI}link#${link.token}`
}
