import { Button, Group, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, ok, type Shape } from '../../../api/client'
import { Section } from '../../../ui/layout/Section'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'

const KEY = ['session', 'invitations']

/** Organizations that have this address as a member, which the person has not accepted. */
export function MembershipOffers() {
  const t = useText()
  const offers = useQuery({
    queryKey: KEY,
    queryFn: () => ok(api.GET('/api/session/invitation')),
  })
  if (!offers.data?.length) return null
  return (
    <Section title={t.offers}>
      <Text size="sm" c="dimmed" px="md" py="sm">
        {t.offersHelp}
      </Text>
      <div role="list">
        {offers.data.map((offer) => (
          <OfferRow key={offer.id} offer={offer} />
        ))}
      </div>
    </Section>
  )
}

function OfferRow({ offer }: { offer: Shape<'OfferRecord'> }) {
  const t = useText()
  const client = useQueryClient()
  const accept = useMutation({
    mutationFn: () => ok(api.POST('/api/session/invitation', { body: { id: offer.id } })),
    onError: showError,
    onSuccess: () => {
      showSuccess(t.offerAccepted(offer.customer_name))
      void client.invalidateQueries()
    },
  })
  const decline = useMutation({
    mutationFn: () =>
      ok(api.DELETE('/api/session/invitation/{id}', { params: { path: { id: offer.id } } })),
    onError: showError,
    onSuccess: () => {
      showSuccess(t.offerDeclined(offer.customer_name))
      void client.invalidateQueries({ queryKey: KEY })
    },
  })
  return (
    <Group role="listitem" className="row settings-session" justify="space-between" wrap="nowrap">
      <div className="clip">
        <Text size="sm" fw={550} className="clip">
          {offer.customer_name}
        </Text>
        <Text size="xs" c="dimmed">
          {t.offerState(offer.credential, offer.invitation)}
        </Text>
      </div>
      <Group gap="xs" wrap="nowrap">
        <Button
          size="xs"
          variant="default"
          loading={decline.isPending}
          disabled={accept.isPending}
          onClick={() => decline.mutate()}
        >
          {t.offerDecline(offer.customer_name)}
        </Button>
        <Button
          size="xs"
          loading={accept.isPending}
          disabled={decline.isPending}
          onClick={() => accept.mutate()}
        >
          {t.offerAccept(offer.customer_name)}
        </Button>
      </Group>
    </Group>
  )
}
